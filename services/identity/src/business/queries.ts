import { ListBusinessesRequestSchema } from "@amana/contracts/identity/v1/business_service_pb";
import { defineList } from "@amana/database";
import { businessView } from "./business.message.ts";

export const businessList = defineList(businessView, ListBusinessesRequestSchema, { search: { contains: "lower(name)" } });

import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { type ServedService, serve } from "@amana/rpc";
import type { Context } from "../context.ts";
import { cancelKycApplication } from "./cancel-kyc-application.ts";
import { createKycApplication } from "./create-kyc-application.ts";
import { getKycApplication } from "./get-kyc-application.ts";
import { listKycApplications } from "./list-kyc-applications.ts";
import { receiveProviderCallback } from "./receive-provider-callback.ts";
import { reviewKycApplication } from "./review-kyc-application.ts";

export const rpcServices = (context: Context): ServedService[] => [
  serve(KycApplicationService, {
    createKycApplication: createKycApplication(context),
    getKycApplication: getKycApplication(context),
    listKycApplications: listKycApplications(context),
    cancelKycApplication: cancelKycApplication(context),
    reviewKycApplication: reviewKycApplication(context),
    receiveProviderCallback: receiveProviderCallback(context),
  }),
];

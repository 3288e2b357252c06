import { allBusinesses } from "@amana/database";
import { type Call, requireBusiness } from "@amana/rpc";
import { createGetRpc, createListRpc, operatorScope } from "@amana/service-host";
import { operatorKeyList, toOperatorKeyMessage } from "../admin-key/admin-key.message.ts";
import { apiKeyList, ownApiKeyList, toApiKeyMessage } from "../api-key/api-key.message.ts";
import { auditEventList, toAuditEventMessage } from "../audit/audit-event.message.ts";
import { businessNotFound, referencedBusinessNotFound } from "../business/business.errors.ts";
import { businessList, businessView, toBusinessMessage } from "../business/business.message.ts";
import type { Context } from "../context.ts";
import { invitationList, toInvitationMessage } from "../invitation/invitation.message.ts";

const readBusiness = createGetRpc(businessView, toBusinessMessage, businessNotFound, () => allBusinesses);

export const getBusiness = createGetRpc(businessView, toBusinessMessage, businessNotFound, operatorScope);
export const listBusinesses = createListRpc(businessList, "businesses", toBusinessMessage, { ownerOf: operatorScope });
export const listApiKeys = createListRpc(apiKeyList, "apiKeys", toApiKeyMessage, {
  ownerOf: operatorScope,
  check: async (em, owner, { businessId }) => {
    if (!(await businessView.read(em, owner, businessId))) throw referencedBusinessNotFound("");
  },
});
export const listOperatorKeys = createListRpc(operatorKeyList, "operatorKeys", toOperatorKeyMessage, { ownerOf: operatorScope });
export const listAuditEvents = createListRpc(auditEventList, "auditEvents", toAuditEventMessage, { ownerOf: operatorScope });
export const listInvitations = createListRpc(invitationList, "invitations", toInvitationMessage, { ownerOf: operatorScope });

export const getOwnBusiness = (context: Context) => (_request: object, call: Call) =>
  readBusiness(context)({ id: requireBusiness(call.caller) }, call);
export const listOwnApiKeys = createListRpc(ownApiKeyList, "apiKeys", toApiKeyMessage);

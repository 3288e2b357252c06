import { allBusinesses } from "@amana/database";
import { type Call, requireBusiness } from "@amana/rpc";
import { forOperators, readOne, readPage } from "@amana/service-host";
import { operatorKeyList, toOperatorKeyMessage } from "../admin-key/admin-key.message.ts";
import { apiKeyList, ownApiKeyList, toApiKeyMessage } from "../api-key/api-key.message.ts";
import { auditEventList, toAuditEventMessage } from "../audit/audit-event.message.ts";
import { businessNotFound, namedBusinessNotFound } from "../business/business.errors.ts";
import { businessList, businessView, toBusinessMessage } from "../business/business.message.ts";
import type { Context } from "../context.ts";
import { invitationList, toInvitationMessage } from "../invitation/invitation.message.ts";

const readBusiness = readOne(businessView, toBusinessMessage, businessNotFound, () => allBusinesses);

export const getBusiness = readOne(businessView, toBusinessMessage, businessNotFound, forOperators);
export const listBusinesses = readPage(businessList, "businesses", toBusinessMessage, { ownerOf: forOperators });
export const listApiKeys = readPage(apiKeyList, "apiKeys", toApiKeyMessage, {
  ownerOf: forOperators,
  check: async (em, owner, { businessId }) => {
    if (!(await businessView.read(em, owner, businessId))) throw namedBusinessNotFound("");
  },
});
export const listOperatorKeys = readPage(operatorKeyList, "operatorKeys", toOperatorKeyMessage, { ownerOf: forOperators });
export const listAuditEvents = readPage(auditEventList, "auditEvents", toAuditEventMessage, { ownerOf: forOperators });
export const listInvitations = readPage(invitationList, "invitations", toInvitationMessage, { ownerOf: forOperators });

export const getOwnBusiness = (context: Context) => (_request: object, call: Call) =>
  readBusiness(context)({ id: requireBusiness(call.caller) }, call);
export const listOwnApiKeys = readPage(ownApiKeyList, "apiKeys", toApiKeyMessage);

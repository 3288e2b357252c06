import { readOne, readPage } from "@amana/service";
import { accountNotFound } from "../account/account.errors.ts";
import { accountList, accountView, toAccountMessage } from "../account/account.message.ts";
import { beneficiaryNotFound } from "../beneficiary/beneficiary.errors.ts";
import { beneficiaryList, beneficiaryView, toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { checkNamedClient } from "../client/check-named-client.ts";
import { clientNotFound } from "../client/client.errors.ts";
import { clientList, clientView, toClientMessage } from "../client/client.message.ts";

export const getClient = readOne(clientView, toClientMessage, clientNotFound);
export const getBeneficiary = readOne(beneficiaryView, toBeneficiaryMessage, beneficiaryNotFound);
export const getAccount = readOne(accountView, toAccountMessage, accountNotFound);

export const listClients = readPage(clientList, "clients", toClientMessage);
export const listBeneficiaries = readPage(beneficiaryList, "beneficiaries", toBeneficiaryMessage, { check: checkNamedClient });
export const listAccounts = readPage(accountList, "accounts", toAccountMessage, { check: checkNamedClient });

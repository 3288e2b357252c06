export { cancelKycApplication } from "./cancel-kyc-application.ts";
export { createKycApplication } from "./create-kyc-application.ts";
export { getKycApplication } from "./get-kyc-application.ts";
export { listKycApplications } from "./list-kyc-applications.ts";
export { receiveProviderCallback } from "./receive-provider-callback.ts";
export { reviewKycApplication } from "./review-kyc-application.ts";

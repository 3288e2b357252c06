// Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.

export interface Payment {
  readonly id: string;
  readonly business_id: string;
  /** Amount of the payment, in the currency. */
  readonly amount: string;
  /** Currency (ISO 4217). */
  readonly currency: string;
  readonly status: "PENDING" | "PAID" | "FAILED" | "REFUSED" | "CANCELED" | "REFUNDED" | "EXPIRED";
  readonly language: string;
  readonly success_url: string;
  readonly fail_url: string;
  /** Order number at the card processor. */
  readonly processor_order_number: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly paid_at?: string;
  readonly action_code?: string;
  readonly action_code_description?: string;
  readonly approval_code?: string;
  readonly card_brand?: string;
  readonly description?: string;
  /** Page with the card form, for the browser of the card holder. */
  readonly form_url?: string;
  /** Masked card number. */
  readonly masked_pan?: string;
  /** Your own identifier of the order. */
  readonly order_ref?: string;
  readonly resp_code?: string;
  readonly resp_code_desc?: string;
  readonly processor_error_code?: string;
  readonly processor_order_id?: string;
  readonly processor_order_status?: number;
  /** Refunded amount, in the currency. */
  readonly refunded_amount?: string;
  /** PROCESSOR when the payment was refunded or reversed at the card processor without Amana. */
  readonly origin?: string;
}

export interface CreatePaymentBody {
  /** Amount in DZD, from 50.00 to 999999999999.99, with at most two decimals. */
  readonly amount: string;
  /** Page for the card holder after a successful payment. An absolute https URL of at most 2048 characters, without credentials. Non-ASCII characters need no encoding. The URL is stored unchanged. */
  readonly success_url: string;
  /** Page for the card holder after any other outcome. An absolute https URL of at most 2048 characters, without credentials. Non-ASCII characters need no encoding. The URL is stored unchanged. */
  readonly fail_url: string;
  /** Your own identifier of the order. At most 20 UTF-16 code units; most emoji count as two. */
  readonly order_ref?: string;
  /** Description of the payment for the card holder. At most 512 UTF-16 code units; most emoji count as two. */
  readonly description?: string;
  /** Language of the card form, FR by default. Upper and lower case are accepted. */
  readonly language?: "AR" | "FR" | "EN";
  /** Currency (ISO 4217). */
  readonly currency?: "DZD";
}

export interface ListPaymentsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  readonly status?: "PENDING" | "PAID" | "FAILED" | "REFUSED" | "CANCELED" | "REFUNDED" | "EXPIRED";
  /** Your own identifier of the order. At most 20 UTF-16 code units; most emoji count as two. */
  readonly order_ref?: string;
  /** Id of a payment link. Payment links are not supported, so no payment matches. */
  readonly payment_link_id?: string;
  /** Start of the range of creation times, inclusive. */
  readonly created_from?: string;
  /** End of the range of creation times, exclusive. */
  readonly created_to?: string;
}

export interface RefundPaymentBody {
  /** Amount of the refund in DZD, greater than zero and at most the paid amount; the paid amount by default. */
  readonly amount?: string;
}

export interface CreateKycApplicationResult {
  readonly id: string;
  readonly created_at: string;
  /** Verification link for the applicant. Treat it as a secret: it allows the submission of documents. */
  readonly link_url: string;
  readonly link_expires_at: string;
  readonly status: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  readonly client_id?: string;
  readonly external_id?: string;
}

export interface CreateKycApplicationBody {
  /** Accepted identity documents; both by default. */
  readonly allowed_documents?: readonly ("id_card" | "passport")[];
  /** E-mail address of the applicant. */
  readonly applicant_email?: string;
  /** Phone number of the applicant (E.164). */
  readonly applicant_phone?: string;
  /** Client whose identity is verified. */
  readonly client_id?: string;
  /** Your own identifier of the applicant; included in each webhook. */
  readonly external_id?: string;
  /** Language of the verification pages, fr by default. Upper and lower case are accepted. */
  readonly locale?: "fr" | "ar" | "en";
  /** Maximum number of submissions on the link; 3 by default. */
  readonly max_attempts?: number;
  /** Your own data, returned unchanged. At most 16 KiB and 8 levels deep. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Data of the applicant, which the provider compares with the document. It is not stored, logged or returned. At most 16 KiB and 8 levels deep. */
  readonly profile?: Readonly<Record<string, unknown>>;
  /** Page to which the applicant returns after the verification. An absolute https URL of at most 2048 characters, without credentials. Non-ASCII characters need no encoding. The URL is stored unchanged. */
  readonly redirect_url?: string;
  /** Whether the applicant must record a video. */
  readonly require_video?: boolean;
  /** Lifetime of the link in hours; by default that of the provider. */
  readonly ttl_hours?: number;
}

export interface KycApplication {
  readonly id: string;
  readonly created_at: string;
  /** Verification link for the applicant. Treat it as a secret: it allows the submission of documents. Absent from 30 days after the end of the application, when the link no longer works. */
  readonly link_url?: string;
  readonly link_expires_at: string;
  readonly status: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  /** Time at which the state was last received from the verification provider. */
  readonly synced_at: string;
  /** Number of hits in anti-money-laundering lists. */
  readonly aml_hit_count: number;
  readonly reason_codes: readonly (KycApplicationReasonCodes)[];
  /** Number of submissions. */
  readonly attempts_used: number;
  /** Number of submissions that are still possible. */
  readonly attempts_remaining: number;
  readonly client_id?: string;
  readonly external_id?: string;
  readonly verdict?: "APPROVED" | "NEEDS_REVIEW" | "REJECTED";
  readonly completed_at?: string;
  readonly decision_summary?: string;
  readonly document_type?: "id_card" | "passport";
  readonly document_expiry?: string;
  readonly nationality?: string;
  readonly liveness_outcome?: string;
  readonly face_match_outcome?: string;
  readonly aml_decision?: string;
  readonly error_message?: string;
  /** Your own data, unchanged, including the order of keys. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface KycApplicationReasonCodes {
  readonly code: string;
  readonly message?: string;
}

export interface ListKycApplicationsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  readonly status?: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  readonly verdict?: "APPROVED" | "NEEDS_REVIEW" | "REJECTED";
  /** Client whose identity is verified. */
  readonly client_id?: string;
  /** Your own identifier of the applicant. */
  readonly external_id?: string;
  /** Start of the range of creation times, inclusive. */
  readonly created_from?: string;
  /** End of the range of creation times, exclusive. */
  readonly created_to?: string;
}

export interface Client {
  readonly id: string;
  /** Number of the business, assigned by Amana. */
  readonly organization_id: number;
  readonly first_name: string;
  readonly middle_name?: string;
  readonly last_name: string;
  readonly date_of_birth: string;
  readonly gender: "male" | "female";
  /** Country code (ISO 3166-1 alpha-3). */
  readonly birth_country: string;
  /** Country code (ISO 3166-1 alpha-3). */
  readonly nationality: string;
  /** Country code (ISO 3166-1 alpha-3). */
  readonly country_of_tax_residence: string;
  readonly address: string;
  readonly city: string;
  readonly postcode: string;
  readonly state_province?: string;
  /** Country code (ISO 3166-1 alpha-3). */
  readonly country_code: string;
  readonly email: string;
  readonly second_email?: string;
  readonly mobile_phone_number?: string;
  readonly second_mobile_phone_number?: string;
  readonly planned_income?: string;
  readonly planned_expenditure?: string;
  /** Your own identifier of the client. */
  readonly external_client_code?: string;
  /** Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application. */
  readonly blocked: boolean;
  /** Whether the client is on your blacklist. The flag has no effect of its own. */
  readonly is_blacklisted: boolean;
  readonly blacklisted_comment?: string;
  readonly risk_level: "Low" | "Medium" | "High";
  readonly kyc_level: "FULL_KYC" | "DOC_ONLY" | "NOT_REQUIRED";
  /** Status of the client's newest KYC application. */
  readonly kyc_status: "NOT_STARTED" | "CREATED" | "PROCESSING" | "ABORTED" | "PENDING_REVIEW" | "VALIDATED" | "DECLINED";
  readonly kyc_note?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CreatePersonBody {
  /** First name as in the identity document. */
  readonly first_name: string;
  readonly middle_name?: string;
  /** Last name as in the identity document. */
  readonly last_name: string;
  /** Date of birth. */
  readonly date_of_birth: string;
  readonly gender: "male" | "female";
  readonly birth_country: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  readonly nationality: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  readonly country_of_tax_residence: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  readonly address: string;
  readonly city: string;
  readonly postcode: string;
  readonly country_code: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  readonly email: string;
  readonly kyc_level?: "FULL_KYC" | "DOC_ONLY" | "NOT_REQUIRED";
  /** Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application. */
  readonly blocked?: boolean;
  /** Whether the client is on your blacklist. The flag has no effect of its own. */
  readonly is_blacklisted?: boolean;
  readonly risk_level?: "Low" | "Medium" | "High";
  readonly state_province?: string;
  readonly second_email?: string;
  readonly mobile_phone_number?: string;
  readonly second_mobile_phone_number?: string;
  readonly planned_income?: string;
  readonly planned_expenditure?: string;
  /** Your own identifier of the client. */
  readonly external_client_code?: string;
  readonly kyc_note?: string;
  readonly blacklisted_comment?: string;
}

export interface ListClientsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** Organization id of your business. With another id the list is empty. */
  readonly organization_id?: number;
  readonly kyc_status?: "NOT_STARTED" | "CREATED" | "PROCESSING" | "ABORTED" | "PENDING_REVIEW" | "VALIDATED" | "DECLINED";
  readonly risk_level?: "Low" | "Medium" | "High";
  readonly is_blacklisted?: boolean;
  readonly blocked?: boolean;
  /** Part of the names, the e-mail address or external_client_code, in any case. */
  readonly search?: string;
  readonly email?: string;
  /** Your own identifier of the client. */
  readonly external_client_code?: string;
}

export interface UpdatePersonBody {
  readonly address?: string;
  readonly city?: string;
  readonly postcode?: string;
  readonly country_code?: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  readonly email?: string;
  /** Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application. */
  readonly blocked?: boolean;
  /** Whether the client is on your blacklist. The flag has no effect of its own. */
  readonly is_blacklisted?: boolean;
  readonly risk_level?: "Low" | "Medium" | "High";
  readonly state_province?: string | null;
  readonly second_email?: string | null;
  readonly mobile_phone_number?: string | null;
  readonly second_mobile_phone_number?: string | null;
  readonly planned_income?: string | null;
  readonly planned_expenditure?: string | null;
  readonly external_client_code?: string | null;
  readonly kyc_note?: string | null;
  readonly blacklisted_comment?: string | null;
}

export interface OnboardingDetails {
  readonly id: string;
  readonly account_purposes: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  readonly expected_monthly_incoming_volume: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  readonly expected_monthly_outgoing_volume: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  readonly is_us_person: boolean;
  readonly occupation: "BUSINESS_OWNER" | "CLERGY" | "CRAFTSMAN" | "ENGINEER" | "EXECUTIVE" | "FARMER" | "FREELANCE" | "LIBERAL_PROFESSION" | "POLITICIAN" | "PROFESSOR" | "PUBLIC_SERVANT" | "RETIRED" | "SHOPKEEPER" | "STUDENT" | "UNEMPLOYED" | "WORKER" | "OTHER";
  readonly other_occupation?: string;
  readonly occupation_sector: "ACCOUNTING_AUDIT" | "E_MONEY_SERVICES" | "CURRENCY_EXCHANGE" | "TRADES_ON_OTC_MARKET" | "PRECIOUS_METALS_OR_STONES" | "PAWNSHOPS" | "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS" | "MINING_EXTRACTIVE_INDUSTRIES" | "ENERGY" | "TRADE_IN_PETROL_PRODUCTS" | "TRADE_IN_MEDICINES" | "REAL_ESTATE" | "CONSTRUCTION_REPAIR" | "CONSULTANCY_LEGAL" | "FREELANCE" | "NON_PROFIT_LEGAL_ENTITIES" | "CRYPTOCURRENCIES" | "GAMING" | "GAMBLING" | "EU_FUNDS_UTILIZATION" | "ADULT" | "HIGH_VALUE_ASSET_DEALER" | "BANKING_LENDING" | "INSURANCE_SECURITY" | "TRANSPORTATION_AND_LOGISTICS" | "MANUFACTURING" | "UTILITIES_AND_INFRASTRUCTURE" | "TRADE_IN_FOOD_PRODUCT" | "WHOLESALE" | "REPAIR_OF_MOTOR_VEHICLES" | "SOCIAL_WORK_ACTIVITIES" | "AUTO_AVIATION" | "COURIER_POST_SERVICES" | "AGRICULTURE_FORESTRY_AND_FISHING" | "OTHER_TRADE_AND_SALES" | "TRAVEL_TOURISM" | "INFORMATION_AND_COMMUNICATION" | "PR_MARKETING" | "EDUCATION" | "INFORMATIONAL_TECHNOLOGIES" | "PUBLIC_AND_DEFENCE_SECTOR" | "HEALTH_CARE_MEDICAL_SERVICES" | "ART_ENTERTAINMENT_SPORT" | "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES" | "HOSPITALITY_AND_LEISURE" | "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES" | "OTHER";
  readonly source_of_funds: "COMPENSATION_PAYOUT" | "COMPANY_PROFITS" | "COMPANY_SALE" | "DIVIDEND_PAYMENTS" | "DIVORCE_SETTLEMENT" | "FIXED_DEPOSITS" | "GIFT" | "INHERITANCE" | "INSURANCE_PAYOUT" | "LOAN" | "LOTTERY_OR_GAMBLING_WIN" | "RETIREMENT_INCOME" | "SALE_OF_INVESTMENT" | "SALE_OF_PROPERTY" | "SAVINGS_FROM_SALARY" | "OTHER";
  readonly other_source_of_funds?: string;
  /** Numeric country code (ISO 3166-1) without leading zeros. */
  readonly funds_origin_country_id?: number;
  readonly tax_identification_number?: string;
  /** Newest KYC application of the client. */
  readonly kyc_application_id?: string;
  /** Verification link of that application, while the applicant can use it. Treat it as a secret. */
  readonly kyc_link?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CreateOnboardingDetailsBody {
  /** Purposes of the account. `account_purposes_input` is an alias of `account_purposes`. */
  readonly account_purposes: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  /** Purposes of the account. `account_purposes_input` is an alias of `account_purposes`. */
  readonly account_purposes_input?: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  readonly expected_monthly_incoming_volume: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  readonly expected_monthly_outgoing_volume: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  /** Whether the client is a US person for tax purposes. */
  readonly is_us_person: boolean;
  readonly occupation: "BUSINESS_OWNER" | "CLERGY" | "CRAFTSMAN" | "ENGINEER" | "EXECUTIVE" | "FARMER" | "FREELANCE" | "LIBERAL_PROFESSION" | "POLITICIAN" | "PROFESSOR" | "PUBLIC_SERVANT" | "RETIRED" | "SHOPKEEPER" | "STUDENT" | "UNEMPLOYED" | "WORKER" | "OTHER";
  readonly occupation_sector: "ACCOUNTING_AUDIT" | "E_MONEY_SERVICES" | "CURRENCY_EXCHANGE" | "TRADES_ON_OTC_MARKET" | "PRECIOUS_METALS_OR_STONES" | "PAWNSHOPS" | "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS" | "MINING_EXTRACTIVE_INDUSTRIES" | "ENERGY" | "TRADE_IN_PETROL_PRODUCTS" | "TRADE_IN_MEDICINES" | "REAL_ESTATE" | "CONSTRUCTION_REPAIR" | "CONSULTANCY_LEGAL" | "FREELANCE" | "NON_PROFIT_LEGAL_ENTITIES" | "CRYPTOCURRENCIES" | "GAMING" | "GAMBLING" | "EU_FUNDS_UTILIZATION" | "ADULT" | "HIGH_VALUE_ASSET_DEALER" | "BANKING_LENDING" | "INSURANCE_SECURITY" | "TRANSPORTATION_AND_LOGISTICS" | "MANUFACTURING" | "UTILITIES_AND_INFRASTRUCTURE" | "TRADE_IN_FOOD_PRODUCT" | "WHOLESALE" | "REPAIR_OF_MOTOR_VEHICLES" | "SOCIAL_WORK_ACTIVITIES" | "AUTO_AVIATION" | "COURIER_POST_SERVICES" | "AGRICULTURE_FORESTRY_AND_FISHING" | "OTHER_TRADE_AND_SALES" | "TRAVEL_TOURISM" | "INFORMATION_AND_COMMUNICATION" | "PR_MARKETING" | "EDUCATION" | "INFORMATIONAL_TECHNOLOGIES" | "PUBLIC_AND_DEFENCE_SECTOR" | "HEALTH_CARE_MEDICAL_SERVICES" | "ART_ENTERTAINMENT_SPORT" | "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES" | "HOSPITALITY_AND_LEISURE" | "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES" | "OTHER";
  readonly source_of_funds: "COMPENSATION_PAYOUT" | "COMPANY_PROFITS" | "COMPANY_SALE" | "DIVIDEND_PAYMENTS" | "DIVORCE_SETTLEMENT" | "FIXED_DEPOSITS" | "GIFT" | "INHERITANCE" | "INSURANCE_PAYOUT" | "LOAN" | "LOTTERY_OR_GAMBLING_WIN" | "RETIREMENT_INCOME" | "SALE_OF_INVESTMENT" | "SALE_OF_PROPERTY" | "SAVINGS_FROM_SALARY" | "OTHER";
  /** Description; required when occupation is OTHER. */
  readonly other_occupation?: string;
  /** Description; required when source_of_funds is OTHER. */
  readonly other_source_of_funds?: string;
  readonly funds_origin_country_id?: 4 | 248 | 8 | 12 | 16 | 20 | 24 | 660 | 10 | 28 | 32 | 51 | 533 | 36 | 40 | 31 | 44 | 48 | 50 | 52 | 112 | 56 | 84 | 204 | 60 | 64 | 68 | 535 | 70 | 72 | 74 | 76 | 86 | 96 | 100 | 854 | 108 | 132 | 116 | 120 | 124 | 136 | 140 | 148 | 152 | 156 | 162 | 166 | 170 | 174 | 178 | 180 | 184 | 188 | 384 | 191 | 192 | 531 | 196 | 203 | 208 | 262 | 212 | 214 | 218 | 818 | 222 | 226 | 232 | 233 | 748 | 231 | 238 | 234 | 242 | 246 | 250 | 254 | 258 | 260 | 266 | 270 | 268 | 276 | 288 | 292 | 300 | 304 | 308 | 312 | 316 | 320 | 831 | 324 | 624 | 328 | 332 | 334 | 336 | 340 | 344 | 348 | 352 | 356 | 360 | 364 | 368 | 372 | 833 | 376 | 380 | 388 | 392 | 832 | 400 | 398 | 404 | 296 | 408 | 410 | 414 | 417 | 418 | 428 | 422 | 426 | 430 | 434 | 438 | 440 | 442 | 446 | 450 | 454 | 458 | 462 | 466 | 470 | 584 | 474 | 478 | 480 | 175 | 484 | 583 | 498 | 492 | 496 | 499 | 500 | 504 | 508 | 104 | 516 | 520 | 524 | 528 | 540 | 554 | 558 | 562 | 566 | 570 | 574 | 807 | 580 | 578 | 512 | 586 | 585 | 275 | 591 | 598 | 600 | 604 | 608 | 612 | 616 | 620 | 630 | 634 | 638 | 642 | 643 | 646 | 652 | 654 | 659 | 662 | 663 | 666 | 670 | 882 | 674 | 678 | 682 | 686 | 688 | 690 | 694 | 702 | 534 | 703 | 705 | 90 | 706 | 710 | 239 | 728 | 724 | 144 | 729 | 740 | 744 | 752 | 756 | 760 | 158 | 762 | 834 | 764 | 626 | 768 | 772 | 776 | 780 | 788 | 792 | 795 | 796 | 798 | 800 | 804 | 784 | 826 | 840 | 581 | 858 | 860 | 548 | 862 | 704 | 92 | 850 | 876 | 732 | 887 | 894 | 716;
  readonly tax_identification_number?: string;
}

export interface UpdateOnboardingDetailsBody {
  /** Purposes of the account. `account_purposes_input` is an alias of `account_purposes`. */
  readonly account_purposes?: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  /** Purposes of the account. `account_purposes_input` is an alias of `account_purposes`. */
  readonly account_purposes_input?: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  readonly expected_monthly_incoming_volume?: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  readonly expected_monthly_outgoing_volume?: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  /** Whether the client is a US person for tax purposes. */
  readonly is_us_person?: boolean;
  readonly occupation?: "BUSINESS_OWNER" | "CLERGY" | "CRAFTSMAN" | "ENGINEER" | "EXECUTIVE" | "FARMER" | "FREELANCE" | "LIBERAL_PROFESSION" | "POLITICIAN" | "PROFESSOR" | "PUBLIC_SERVANT" | "RETIRED" | "SHOPKEEPER" | "STUDENT" | "UNEMPLOYED" | "WORKER" | "OTHER";
  readonly occupation_sector?: "ACCOUNTING_AUDIT" | "E_MONEY_SERVICES" | "CURRENCY_EXCHANGE" | "TRADES_ON_OTC_MARKET" | "PRECIOUS_METALS_OR_STONES" | "PAWNSHOPS" | "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS" | "MINING_EXTRACTIVE_INDUSTRIES" | "ENERGY" | "TRADE_IN_PETROL_PRODUCTS" | "TRADE_IN_MEDICINES" | "REAL_ESTATE" | "CONSTRUCTION_REPAIR" | "CONSULTANCY_LEGAL" | "FREELANCE" | "NON_PROFIT_LEGAL_ENTITIES" | "CRYPTOCURRENCIES" | "GAMING" | "GAMBLING" | "EU_FUNDS_UTILIZATION" | "ADULT" | "HIGH_VALUE_ASSET_DEALER" | "BANKING_LENDING" | "INSURANCE_SECURITY" | "TRANSPORTATION_AND_LOGISTICS" | "MANUFACTURING" | "UTILITIES_AND_INFRASTRUCTURE" | "TRADE_IN_FOOD_PRODUCT" | "WHOLESALE" | "REPAIR_OF_MOTOR_VEHICLES" | "SOCIAL_WORK_ACTIVITIES" | "AUTO_AVIATION" | "COURIER_POST_SERVICES" | "AGRICULTURE_FORESTRY_AND_FISHING" | "OTHER_TRADE_AND_SALES" | "TRAVEL_TOURISM" | "INFORMATION_AND_COMMUNICATION" | "PR_MARKETING" | "EDUCATION" | "INFORMATIONAL_TECHNOLOGIES" | "PUBLIC_AND_DEFENCE_SECTOR" | "HEALTH_CARE_MEDICAL_SERVICES" | "ART_ENTERTAINMENT_SPORT" | "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES" | "HOSPITALITY_AND_LEISURE" | "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES" | "OTHER";
  readonly source_of_funds?: "COMPENSATION_PAYOUT" | "COMPANY_PROFITS" | "COMPANY_SALE" | "DIVIDEND_PAYMENTS" | "DIVORCE_SETTLEMENT" | "FIXED_DEPOSITS" | "GIFT" | "INHERITANCE" | "INSURANCE_PAYOUT" | "LOAN" | "LOTTERY_OR_GAMBLING_WIN" | "RETIREMENT_INCOME" | "SALE_OF_INVESTMENT" | "SALE_OF_PROPERTY" | "SAVINGS_FROM_SALARY" | "OTHER";
  readonly other_occupation?: string | null;
  readonly other_source_of_funds?: string | null;
  readonly funds_origin_country_id?: 4 | 248 | 8 | 12 | 16 | 20 | 24 | 660 | 10 | 28 | 32 | 51 | 533 | 36 | 40 | 31 | 44 | 48 | 50 | 52 | 112 | 56 | 84 | 204 | 60 | 64 | 68 | 535 | 70 | 72 | 74 | 76 | 86 | 96 | 100 | 854 | 108 | 132 | 116 | 120 | 124 | 136 | 140 | 148 | 152 | 156 | 162 | 166 | 170 | 174 | 178 | 180 | 184 | 188 | 384 | 191 | 192 | 531 | 196 | 203 | 208 | 262 | 212 | 214 | 218 | 818 | 222 | 226 | 232 | 233 | 748 | 231 | 238 | 234 | 242 | 246 | 250 | 254 | 258 | 260 | 266 | 270 | 268 | 276 | 288 | 292 | 300 | 304 | 308 | 312 | 316 | 320 | 831 | 324 | 624 | 328 | 332 | 334 | 336 | 340 | 344 | 348 | 352 | 356 | 360 | 364 | 368 | 372 | 833 | 376 | 380 | 388 | 392 | 832 | 400 | 398 | 404 | 296 | 408 | 410 | 414 | 417 | 418 | 428 | 422 | 426 | 430 | 434 | 438 | 440 | 442 | 446 | 450 | 454 | 458 | 462 | 466 | 470 | 584 | 474 | 478 | 480 | 175 | 484 | 583 | 498 | 492 | 496 | 499 | 500 | 504 | 508 | 104 | 516 | 520 | 524 | 528 | 540 | 554 | 558 | 562 | 566 | 570 | 574 | 807 | 580 | 578 | 512 | 586 | 585 | 275 | 591 | 598 | 600 | 604 | 608 | 612 | 616 | 620 | 630 | 634 | 638 | 642 | 643 | 646 | 652 | 654 | 659 | 662 | 663 | 666 | 670 | 882 | 674 | 678 | 682 | 686 | 688 | 690 | 694 | 702 | 534 | 703 | 705 | 90 | 706 | 710 | 239 | 728 | 724 | 144 | 729 | 740 | 744 | 752 | 756 | 760 | 158 | 762 | 834 | 764 | 626 | 768 | 772 | 776 | 780 | 788 | 792 | 795 | 796 | 798 | 800 | 804 | 784 | 826 | 840 | 581 | 858 | 860 | 548 | 862 | 704 | 92 | 850 | 876 | 732 | 887 | 894 | 716 | null;
  readonly tax_identification_number?: string | null;
}

export interface OnboardingStatus {
  readonly id: string;
  readonly client_id: string;
  readonly current_step: "DETAILS_PENDING" | "KYC_PENDING" | "KYC_PROCESSING" | "KYC_UNDER_REVIEW" | "KYC_DECLINED" | "PENDING_APPROVAL" | "APPROVED";
  readonly kyc_status: "NOT_STARTED" | "CREATED" | "PROCESSING" | "ABORTED" | "PENDING_REVIEW" | "VALIDATED" | "DECLINED";
  readonly overall_status: "IN_PROGRESS" | "UNDER_REVIEW" | "DECLINED" | "APPROVED";
  /** Newest KYC application of the client. */
  readonly kyc_application_id?: string;
  /** Verification link of that application, while the applicant can use it. Treat it as a secret. */
  readonly kyc_link?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Beneficiary {
  readonly id: string;
  readonly client_id: string;
  readonly beneficiary_type: "PERSON" | "COMPANY";
  readonly name: string;
  /** Whether the beneficiary is shown to users. */
  readonly display: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly account_number?: string;
  readonly iban?: string;
  readonly bic?: string;
  readonly swift_code?: string;
  readonly routing_number?: string;
  readonly bank_name?: string;
  readonly bank_address?: string;
  readonly address?: string;
  readonly city?: string;
  readonly postal_code?: string;
  readonly country_code?: string;
}

export interface CreateBeneficiaryBody {
  /** Client who pays the beneficiary. */
  readonly client_id: string;
  readonly beneficiary_type?: "PERSON" | "COMPANY";
  /** Name of the person or company. */
  readonly name: string;
  /** Whether the beneficiary is shown to users. */
  readonly display?: boolean;
  readonly account_number?: string | null;
  readonly iban?: string | null;
  readonly bic?: string | null;
  readonly swift_code?: string | null;
  readonly routing_number?: string | null;
  readonly bank_name?: string | null;
  readonly bank_address?: string | null;
  readonly address?: string | null;
  readonly city?: string | null;
  readonly postal_code?: string | null;
  readonly country_code?: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE" | null;
}

export interface ListBeneficiariesQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** Client who pays the beneficiary. */
  readonly client_id?: string;
  readonly beneficiary_type?: "PERSON" | "COMPANY";
  /** Country code (ISO 3166-1 alpha-3). */
  readonly country_code?: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  /** Whether the beneficiary is shown to users. */
  readonly display?: boolean;
  /** Part of the name, IBAN (without spaces) or account number, in any case. */
  readonly search?: string;
}

export interface UpdateBeneficiaryBody {
  readonly beneficiary_type?: "PERSON" | "COMPANY";
  /** Name of the person or company. */
  readonly name?: string;
  /** Whether the beneficiary is shown to users. */
  readonly display?: boolean;
  readonly account_number?: string | null;
  readonly iban?: string | null;
  readonly bic?: string | null;
  readonly swift_code?: string | null;
  readonly routing_number?: string | null;
  readonly bank_name?: string | null;
  readonly bank_address?: string | null;
  readonly address?: string | null;
  readonly city?: string | null;
  readonly postal_code?: string | null;
  readonly country_code?: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE" | null;
}

export interface Account {
  readonly id: string;
  readonly client_id: string;
  readonly account_name: string;
  readonly account_number: string;
  readonly account_type: "CURRENT" | "SAVINGS" | "ESCROW";
  /** Currency of all amounts (ISO 4217). */
  readonly currency: string;
  /** Sum of the available and the reserved balance. */
  readonly current_balance: string;
  /** Balance that can be spent. */
  readonly available_balance: string;
  /** Balance that is reserved by open holds. */
  readonly reserved_balance: string;
  readonly status: "PENDING" | "ACTIVE" | "SUSPENDED" | "CLOSED";
  readonly opened_date: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly closed_date?: string;
  readonly last_activity_date?: string;
  /** Maximum sum of outgoing amounts in a day (UTC). */
  readonly daily_limit?: string;
  /** Maximum sum of outgoing amounts in a month (UTC). */
  readonly monthly_limit?: string;
  /** Maximum sum of outgoing amounts in a year (UTC). */
  readonly yearly_limit?: string;
  readonly description?: string;
  /** Your own identifier of the account. */
  readonly external_account_id?: string;
}

export interface OpenAccountBody {
  /** Client who owns the account. */
  readonly client_id: string;
  readonly account_type: "CURRENT" | "SAVINGS" | "ESCROW";
  /** Name of the account. */
  readonly account_name: string;
  /** Currency of the account (ISO 4217). The deployment configures the accepted currencies. */
  readonly currency: string;
  /** Maximum sum of outgoing amounts in a day (UTC), in the currency of the account. At most the monthly limit. */
  readonly daily_limit?: string;
  /** Maximum sum of outgoing amounts in a month (UTC), in the currency of the account. At most the yearly limit. */
  readonly monthly_limit?: string;
  /** Maximum sum of outgoing amounts in a year (UTC), in the currency of the account. At least the monthly limit. */
  readonly yearly_limit?: string;
  /** Free text. */
  readonly description?: string;
  /** Your own identifier of the account; unique in your business. */
  readonly external_account_id?: string;
}

export interface ListAccountsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** Client who owns the account. */
  readonly client_id?: string;
  readonly account_type?: "CURRENT" | "SAVINGS" | "ESCROW";
  readonly status?: "PENDING" | "ACTIVE" | "SUSPENDED" | "CLOSED";
  /** Currency of the account (ISO 4217). The deployment configures the accepted currencies. */
  readonly currency?: string;
  /** Part of the account name, account number or external_account_id, in any case. */
  readonly search?: string;
}

export interface UpdateAccountBody {
  /** Name of the account. */
  readonly account_name?: string;
  readonly daily_limit?: string | null;
  readonly monthly_limit?: string | null;
  readonly yearly_limit?: string | null;
  readonly description?: string | null;
  readonly external_account_id?: string | null;
}

export interface CreateWebhookEndpointResult {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types that the endpoint receives, also when it has the default types (all except the opt-in ones). */
  readonly events: readonly (string)[];
  readonly created_at: string;
  /** Signing secret; only in the response that creates it. */
  readonly secret?: string;
}

export interface CreateWebhookEndpointBody {
  /** URL that receives the webhooks: absolute, https, with a public host, at most 2048 characters, without credentials and fragment. A development system also accepts http and loopback addresses. */
  readonly url: string;
  /** Event types that the endpoint receives. An empty list selects the default: all types except the opt-in ones. */
  readonly events?: readonly ("KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED")[];
}

export interface ListWebhookEndpointsItem {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types that the endpoint receives, also when it has the default types (all except the opt-in ones). */
  readonly events: readonly (string)[];
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ListWebhookEndpointsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types that the endpoint receives, also when it has the default types (all except the opt-in ones). */
  readonly events: readonly (string)[];
  readonly created_at: string;
  readonly updated_at: string;
  /** Health of the deliveries to the endpoint. Attempts are included after a few seconds. The limits of hour and day have a resolution of five minutes. */
  readonly health?: WebhookEndpointHealth;
}

export interface WebhookEndpointHealth {
  /** Time since which all attempts have failed. After five days the endpoint is disabled. */
  readonly failing_since?: string;
  /** Share of successful attempts in the last hour, from 0 to 1. Absent without attempts. */
  readonly success_rate_1h?: number;
  /** Share of successful attempts in the last day, from 0 to 1. Absent without attempts. */
  readonly success_rate_24h?: number;
  /** Newest error in the last day: the `error` of the attempt, or `http_` with the status. */
  readonly last_error?: string;
  /** 95th percentile of the attempt durations in the last day, in milliseconds, with an error of up to 20 %. */
  readonly p95_ms_24h?: number;
}

export interface UpdateWebhookEndpointResult {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types that the endpoint receives, also when it has the default types (all except the opt-in ones). */
  readonly events: readonly (string)[];
  readonly updated_at: string;
  /** Signing secret; only in the response that creates it. */
  readonly secret?: string;
}

export interface UpdateWebhookEndpointBody {
  /** URL that receives the webhooks: absolute, https, with a public host, at most 2048 characters, without credentials and fragment. A development system also accepts http and loopback addresses. */
  readonly url?: string;
  /** Whether to replace the signing secret. The response contains the new `secret`. */
  readonly rotate_secret?: boolean;
  /** Seconds for which `X-Signature` still uses the old secret, so that the receiver can be configured first; 0 by default. Requires `rotate_secret`. */
  readonly activate_in_seconds?: number;
  readonly status?: "ACTIVE" | "DISABLED";
  readonly events?: readonly ("KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED")[] | null;
}

export interface TestWebhookEndpointResult {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  /** Body of each delivery of the event, byte for byte as signed. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly delivery: Delivery;
}

export interface Delivery {
  readonly id: string;
  readonly endpoint_id: string;
  readonly status: "pending" | "succeeded" | "failed" | "skipped";
  readonly next_attempt_at?: string;
  readonly attempts: readonly (DeliveryAttempts)[];
}

export interface DeliveryAttempts {
  readonly at: string;
  /** HTTP status of the response. */
  readonly status_code?: number;
  /** Reason for an attempt without an HTTP response. Absent with a `status_code`, and for attempts of versions without these codes. */
  readonly error?: "timeout" | "dns_error" | "connection_refused" | "connection_reset" | "tls_error" | "address_forbidden" | "invalid_response" | "secret_unreadable";
  /** Description of the error. */
  readonly detail?: string;
  /** Duration of the attempt in milliseconds. */
  readonly duration_ms: number;
  /** First 1024 bytes of the response body. */
  readonly response?: string;
}

export interface CheckWebhookEndpointResult {
  readonly checks: readonly (CheckWebhookEndpointResultChecks)[];
}

export interface CheckWebhookEndpointResultChecks {
  readonly name: "good" | "forged_signature" | "duplicate" | "old_timestamp";
  /** Whether the endpoint responded as required. */
  readonly passed: boolean;
  /** Response of the endpoint, and the necessary change if the check failed. */
  readonly detail: string;
}

export interface WebhookReplay {
  readonly id: string;
  readonly status: "RUNNING" | "DONE";
  /** Number of deliveries that match the filters. It can still grow while the status is RUNNING. */
  readonly matched: number;
  /** Number of matching deliveries that were started again. */
  readonly sent: number;
}

export interface ReplayWebhookEndpointBody {
  /** Start of the range of event times, inclusive. Events are stored for 30 days. */
  readonly since: string;
  /** End of the range of event times, exclusive; the current time by default. */
  readonly until?: string;
  /** Event types; all by default. */
  readonly types?: readonly ("KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED" | "WEBHOOK_TEST")[];
  /** Statuses of the deliveries; `skipped` and `failed` by default. `pending` starts the next attempt now. */
  readonly statuses?: readonly ("pending" | "succeeded" | "failed" | "skipped")[];
}

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  /** Body of each delivery of the event, byte for byte as signed. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ListEventsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  readonly type?: "KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED" | "WEBHOOK_TEST";
  /** Start of the range of creation times, inclusive. */
  readonly from?: string;
  /** End of the range of creation times, exclusive. */
  readonly to?: string;
}

export interface RedeliverEventBody {
  /** Webhook endpoint that receives the event; by default all that have a delivery of it. */
  readonly endpoint_id?: string;
}

export interface OnboardBusinessResult {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly created_at: string;
  readonly updated_at: string;
  /** Contact address. Only of a business that registered itself. */
  readonly contact_email?: string;
  /** Plaintext of the key; only in the response that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the newest live API key. */
  readonly api_key_prefix?: string;
}

export interface OnboardBusinessBody {
  /** Name of the business. */
  readonly name: string;
  /** E-mail address at which operators contact the business. */
  readonly contact_email: string;
}

export interface OwnBusiness {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly created_at: string;
  readonly updated_at: string;
  /** First 16 characters of the newest live API key. */
  readonly api_key_prefix?: string;
}

export interface UpdateOwnBusinessResult {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly updated_at: string;
  /** Plaintext of the key; only in the response that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the newest live API key. */
  readonly api_key_prefix?: string;
}

export interface UpdateOwnBusinessBody {
  /** Name of the business. */
  readonly name?: string;
  /** Whether to replace the key of this request. The response contains the new `api_key`. */
  readonly rotate_api_key?: boolean;
  /** Seconds for which the replaced key stays valid, 0 by default. Requires `rotate_api_key`. */
  readonly previous_key_ttl_seconds?: number;
}

export interface OwnApiKey {
  readonly id: string;
  readonly name: string;
  /** First 16 characters of the key. */
  readonly prefix: string;
  readonly created_at: string;
  readonly last_used_at?: string;
  /** Time at which the key expires. Absent without an expiry. */
  readonly expires_at?: string;
  /** Networks from which the key is accepted, in canonical form. Absent when all are accepted. */
  readonly allowed_ips?: readonly (string)[];
  readonly revoked_at?: string;
}

export interface CreateOwnApiKeyResult {
  readonly id: string;
  readonly name: string;
  /** Plaintext of the key; only in the response that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the key. */
  readonly prefix: string;
  readonly created_at: string;
  /** Time at which the key expires. Absent without an expiry. */
  readonly expires_at?: string;
  /** Networks from which the key is accepted, in canonical form. Absent when all are accepted. */
  readonly allowed_ips?: readonly (string)[];
}

export interface CreateOwnApiKeyBody {
  /** Name of the key; unique among your live keys. */
  readonly name: string;
  /** Time in the future at which the key expires. Without it the key does not expire. */
  readonly expires_at?: string;
  /** Networks from which the key is accepted, as IPv4 or IPv6 addresses or CIDRs. Requests from other addresses are rejected with 403. Without it all addresses are accepted. */
  readonly allowed_ips?: readonly (string)[];
}

export interface RevokeOwnApiKeyResult {
  readonly id: string;
  readonly name: string;
  /** First 16 characters of the key. */
  readonly prefix: string;
  readonly revoked_at?: string;
}

export interface RevokeOwnApiKeyBody {
  /** Reason, stored in the audit trail. */
  readonly reason?: string;
}

export interface Business {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly created_at: string;
  readonly updated_at: string;
  /** Number of the business, assigned by Amana. */
  readonly organization_id: number;
  /** Contact address. Only of a business that registered itself. */
  readonly contact_email?: string;
  /** Plaintext of the key; only in the response that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the newest live API key. */
  readonly api_key_prefix?: string;
}

export interface CreateBusinessBody {
  /** Name of the business. */
  readonly name: string;
  /** Initial status, ACTIVE by default. Keys of a PENDING business are rejected. */
  readonly status?: "ACTIVE" | "PENDING";
}

export interface ListBusinessesQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  readonly status?: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  /** Part of the name, in any case. */
  readonly search?: string;
}

export interface UpdateBusinessBody {
  /** Name of the business. */
  readonly name?: string;
  readonly status?: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  /** Whether to replace the newest live key. The response contains the new `api_key`. */
  readonly rotate_api_key?: boolean;
}

export interface ReviewKycApplicationResult {
  readonly id: string;
  readonly created_at: string;
  readonly link_expires_at: string;
  readonly status: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  /** Time at which the state was last received from the verification provider. */
  readonly synced_at: string;
  /** Number of hits in anti-money-laundering lists. */
  readonly aml_hit_count: number;
  readonly reason_codes: readonly (KycApplicationReasonCodes)[];
  /** Number of submissions. */
  readonly attempts_used: number;
  /** Number of submissions that are still possible. */
  readonly attempts_remaining: number;
  readonly client_id?: string;
  readonly external_id?: string;
  readonly verdict?: "APPROVED" | "NEEDS_REVIEW" | "REJECTED";
  readonly completed_at?: string;
  readonly decision_summary?: string;
  readonly document_type?: "id_card" | "passport";
  readonly document_expiry?: string;
  readonly nationality?: string;
  readonly liveness_outcome?: string;
  readonly face_match_outcome?: string;
  readonly aml_decision?: string;
  readonly error_message?: string;
  /** Your own data, unchanged, including the order of keys. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ReviewKycApplicationBody {
  /** Verdict of the review. */
  readonly outcome: "APPROVED" | "REJECTED";
  /** Reason, stored in the audit trail. */
  readonly note: string;
}

export interface ApproveOnboardingBody {
  /** Reason, stored in the audit trail. */
  readonly reason?: string;
}

export interface CreateApiKeyResult {
  readonly id: string;
  readonly business_id: string;
  readonly name: string;
  /** Plaintext of the key; only in the response that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the key. */
  readonly api_key_prefix: string;
  readonly created_at: string;
  /** Time at which the key expires. Absent without an expiry. */
  readonly expires_at?: string;
  /** Networks from which the key is accepted, in canonical form. Absent when all are accepted. */
  readonly allowed_ips?: readonly (string)[];
}

export interface CreateApiKeyBody {
  /** Business that receives the key. */
  readonly business_id: string;
  /** Name of the key; unique among the live keys of the business. */
  readonly name: string;
  /** Time in the future at which the key expires. Without it the key does not expire. */
  readonly expires_at?: string;
  /** Networks from which the key is accepted, as IPv4 or IPv6 addresses or CIDRs. Requests from other addresses are rejected with 403. Without it all addresses are accepted. */
  readonly allowed_ips?: readonly (string)[];
}

export interface ApiKey {
  readonly id: string;
  readonly business_id: string;
  readonly name: string;
  /** First 16 characters of the key. */
  readonly api_key_prefix: string;
  readonly created_at: string;
  readonly last_used_at?: string;
  /** Time at which the key expires. Absent without an expiry. */
  readonly expires_at?: string;
  /** Networks from which the key is accepted, in canonical form. Absent when all are accepted. */
  readonly allowed_ips?: readonly (string)[];
  readonly revoked_at?: string;
}

export interface ListApiKeysQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** Business that owns the keys. */
  readonly business_id?: string;
}

export interface RevokeApiKeyResult {
  readonly id: string;
  readonly business_id: string;
  readonly name: string;
  /** First 16 characters of the key. */
  readonly api_key_prefix: string;
  readonly revoked_at?: string;
}

export interface CreateOperatorKeyResult {
  readonly id: string;
  readonly name: string;
  /** Plaintext of the key; only in the response that issues it. */
  readonly admin_key?: string;
  /** First 16 characters of the key. */
  readonly admin_key_prefix: string;
  readonly created_at: string;
}

export interface CreateOperatorKeyBody {
  /** Name of the key; unique among live operator keys. */
  readonly name: string;
}

export interface OperatorKey {
  readonly id: string;
  readonly name: string;
  /** First 16 characters of the key. */
  readonly admin_key_prefix: string;
  readonly created_at: string;
  /** Time of the last use, to the minute. */
  readonly last_used_at?: string;
  readonly revoked_at?: string;
}

export interface CreateInvitationResult {
  readonly id: string;
  readonly name: string;
  /** Plaintext of the token; only in the response that creates the invitation. */
  readonly invitation_token?: string;
  /** First 16 characters of the token. */
  readonly token_prefix: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface CreateInvitationBody {
  /** Name of the invited business or person. */
  readonly name: string;
  /** Time at which the invitation expires, at most 30 days ahead; 7 days by default. */
  readonly expires_at?: string;
}

export interface Invitation {
  readonly id: string;
  readonly name: string;
  /** First 16 characters of the token. */
  readonly token_prefix: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly used_at?: string;
  /** Business that registered with the invitation. */
  readonly business_id?: string;
  readonly revoked_at?: string;
}

export interface Refund {
  readonly id: string;
  readonly business_id: string;
  readonly payment_id: string;
  readonly amount: string;
  readonly currency: string;
  readonly status: "REQUESTED" | "SENT" | "ACCEPTED" | "REJECTED" | "UNKNOWN" | "NOT_SENT";
  /** Whether an operator must decide the refund. */
  readonly needs_decision: boolean;
  /** OUTCOME_UNKNOWN: the outcome is still unknown after a day. UNEXPLAINED: no rule explains the state at the processor. */
  readonly decision_reason?: string;
  readonly needs_decision_since?: string;
  /** Last decision of an operator. */
  readonly resolution?: "ACCEPTED" | "REJECTED" | "SEND_AGAIN";
  /** Number of times the refund was sent to the card processor. */
  readonly sends: number;
  readonly last_sent_at?: string;
  readonly processor_error_code?: string;
  readonly payment_status: string;
  readonly payment_amount: string;
  readonly payment_refunded_amount?: string;
  /** State of the order at the card processor at `read_at`. */
  readonly processor: RefundProcessor;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface RefundProcessor {
  readonly order_id?: string;
  readonly order_number: string;
  readonly order_status?: number;
  readonly refunded_amount?: string;
  readonly read_at?: string;
}

export interface ListRefundsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** `true` for the refunds that need a decision of an operator. */
  readonly needs_decision?: boolean;
}

export interface ResolveRefundBody {
  /** Decision about the refund. */
  readonly outcome: "ACCEPTED" | "REJECTED" | "SEND_AGAIN";
  /** Reason, stored in the audit trail. */
  readonly note: string;
}

export interface PaymentTimeline {
  readonly payment: Payment;
  /** Entries, oldest first; within a millisecond, causes before effects. Calls, events and attempts are those of the last 30 days. */
  readonly entries: readonly (PaymentTimelineEntries)[];
  /** Kinds that are unavailable at the moment: `events`, including their delivery attempts. Absent when the timeline is complete. */
  readonly missing?: readonly ("events")[];
  /** Kinds with more entries than returned. The timeline has at most 200 calls (the first 50 and the newest 150), 20 events and the newest 50 attempts of each delivery. Absent when the timeline has all entries. */
  readonly truncated?: readonly ("processor_calls" | "events")[];
}

export interface PaymentTimelineEntries {
  /** Time at which the entry happened or began; for `next_attempt`, the scheduled time. */
  readonly at: string;
  readonly kind: "payment" | "processor_call" | "refund" | "event" | "delivery_attempt" | "next_attempt";
  /** New status of a payment or refund, operation of a processor call, or type of an event. */
  readonly name: string;
  /** Outcome of a call (ACCEPTED, REFUSED, UNKNOWN or NOT_SENT), or HTTP status or error code of a delivery attempt. */
  readonly outcome?: string;
  readonly detail?: string;
  /** Duration in milliseconds. */
  readonly duration_ms?: number;
  readonly refund_id?: string;
  readonly event_id?: string;
  readonly endpoint_id?: string;
}

export interface ListChangedPaymentsItem {
  readonly id: string;
  readonly business_id: string;
  /** Amount of the payment, in the currency. */
  readonly amount: string;
  /** Currency (ISO 4217). */
  readonly currency: string;
  readonly status: "PENDING" | "PAID" | "FAILED" | "REFUSED" | "CANCELED" | "REFUNDED" | "EXPIRED";
  readonly language: string;
  readonly success_url: string;
  readonly fail_url: string;
  /** Order number at the card processor. */
  readonly processor_order_number: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly paid_at?: string;
  readonly action_code?: string;
  readonly action_code_description?: string;
  readonly approval_code?: string;
  readonly card_brand?: string;
  readonly description?: string;
  /** Page with the card form, for the browser of the card holder. */
  readonly form_url?: string;
  /** Masked card number. */
  readonly masked_pan?: string;
  /** Your own identifier of the order. */
  readonly order_ref?: string;
  readonly resp_code?: string;
  readonly resp_code_desc?: string;
  readonly processor_error_code?: string;
  readonly processor_order_id?: string;
  readonly processor_order_status?: number;
  /** Refunded amount, in the currency. */
  readonly refunded_amount?: string;
  /** PROCESSOR when the payment was refunded or reversed at the card processor without Amana. */
  readonly origin?: string;
  /** State at the processor that no rule explains. The payment was not changed, and an operator must investigate. */
  readonly difference?: string;
  /** State of the order at the card processor at `read_at`. */
  readonly processor: RefundProcessor;
}

export interface ListChangedPaymentsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** Origin of the change. The list is the same without this filter. */
  readonly origin?: "PROCESSOR";
}

export interface AuditEvent {
  readonly id: string;
  readonly at: string;
  /** Actor: the first 16 characters of the key of the request, `platform` for the deployment itself, or `command:` with the name of the user of the `amana` command. */
  readonly actor: string;
  readonly actor_key_id?: string;
  /** Name of that key. */
  readonly actor_name?: string;
  readonly action: string;
  readonly entity: AuditEventEntity;
  readonly business_id?: string;
  /** Values before the action, without secrets. Absent when the resource did not exist. */
  readonly before?: Readonly<Record<string, unknown>>;
  /** Values after the action, without secrets. */
  readonly after?: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  readonly request_id: string;
  /** IP address of the caller. */
  readonly address: string;
}

export interface AuditEventEntity {
  readonly type: string;
  readonly id: string;
}

export interface ListAuditEventsQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** Business that the action concerns. */
  readonly business_id?: string;
  /** Name of the action. */
  readonly action?: string;
  /** Id of the changed resource. */
  readonly entity_id?: string;
  /** Start of the time range, inclusive. */
  readonly from?: string;
  /** End of the time range, exclusive. */
  readonly to?: string;
}

export interface ListDeadLettersItem {
  readonly id: string;
  /** Service that failed to apply the event. */
  readonly service: string;
  readonly topic: string;
  /** Id of the event, as in webhooks. */
  readonly event_id: string;
  readonly event_type: string;
  /** Id of the resource that the event concerns. */
  readonly key: string;
  /** RETRYING: retried automatically. WAITING: retried after an upgrade of the service, which does not support the event type. PARKED: all retries failed; an operator must retry or drop it. FORGED: stored by an earlier version after a rejection; current versions only count these messages. DELIVERED and DROPPED are final. */
  readonly status: "RETRYING" | "WAITING" | "PARKED" | "FORGED" | "DELIVERED" | "DROPPED";
  /** Error of the last attempt. */
  readonly reason: string;
  readonly attempts: number;
  readonly next_attempt_at?: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ListDeadLettersQuery {
  /** Maximum number of items on the page. */
  readonly limit?: number;
  /** Number of items to skip before the page. */
  readonly offset?: number;
  /** Consuming service; all of them by default. */
  readonly service?: "webhooks" | "clients" | "identity";
  /** Topic of the event. */
  readonly topic?: string;
  readonly status?: "RETRYING" | "WAITING" | "PARKED" | "FORGED" | "DELIVERED" | "DROPPED";
}

export interface DeadLetter {
  readonly id: string;
  /** Service that failed to apply the event. */
  readonly service: string;
  readonly topic: string;
  /** Id of the event, as in webhooks. */
  readonly event_id: string;
  readonly event_type: string;
  /** Id of the resource that the event concerns. */
  readonly key: string;
  /** RETRYING: retried automatically. WAITING: retried after an upgrade of the service, which does not support the event type. PARKED: all retries failed; an operator must retry or drop it. FORGED: stored by an earlier version after a rejection; current versions only count these messages. DELIVERED and DROPPED are final. */
  readonly status: "RETRYING" | "WAITING" | "PARKED" | "FORGED" | "DELIVERED" | "DROPPED";
  /** Error of the last attempt. */
  readonly reason: string;
  readonly attempts: number;
  readonly next_attempt_at?: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload_bytes: number;
  /** Payload of the event with ids, enum values and numbers. Other texts are replaced by their length. Absent in lists. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface DropDeadLetterBody {
  /** Reason, stored in the audit trail. */
  readonly note: string;
}

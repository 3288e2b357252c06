// Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.

export interface OnboardBusinessResult {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly created_at: string;
  readonly updated_at: string;
  /** Of a business that registered itself. */
  readonly contact_email?: string;
  /** The plaintext key, only in the answer that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the newest live key. */
  readonly api_key_prefix?: string;
}

export interface OnboardBusinessBody {
  readonly name: string;
  readonly contact_email: string;
}

export interface OwnBusiness {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly created_at: string;
  readonly updated_at: string;
  /** First 16 characters of the newest live key. */
  readonly api_key_prefix?: string;
}

export interface UpdateOwnBusinessResult {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly updated_at: string;
  /** The plaintext key, only in the answer that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the newest live key. */
  readonly api_key_prefix?: string;
}

export interface UpdateOwnBusinessBody {
  readonly name?: string;
  readonly rotate_api_key?: boolean;
  readonly previous_key_ttl_seconds?: number;
}

export interface OwnApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly created_at: string;
  readonly last_used_at?: string;
  readonly expires_at?: string;
  /** The only networks the key may be used from, in canonical form. Absent: from anywhere. */
  readonly allowed_ips?: readonly (string)[];
  readonly revoked_at?: string;
}

export interface ListOwnApiKeysQuery {
  readonly limit?: number;
  readonly offset?: number;
}

export interface CreateOwnApiKeyResult {
  readonly id: string;
  readonly name: string;
  /** The plaintext key, only in the answer that issues it. */
  readonly api_key?: string;
  readonly prefix: string;
  readonly created_at: string;
  readonly expires_at?: string;
  /** The only networks the key may be used from, in canonical form. Absent: from anywhere. */
  readonly allowed_ips?: readonly (string)[];
}

export interface CreateOwnApiKeyBody {
  readonly name: string;
  /** In the future. Absent: the key has no end. */
  readonly expires_at?: string;
  /** CIDRs, of IPv4 or IPv6: calls from elsewhere are refused with 403. Absent: from anywhere. */
  readonly allowed_ips?: readonly (string)[];
}

export interface RevokeOwnApiKeyResult {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly revoked_at?: string;
}

export interface RevokeOwnApiKeyBody {
  readonly reason?: string;
}

export interface CreateKycApplicationResult {
  readonly id: string;
  readonly created_at: string;
  /** The verification link. Treat it as a secret: whoever has it can submit documents. */
  readonly link_url: string;
  readonly link_expires_at: string;
  readonly status: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  readonly client_id?: string;
  readonly external_id?: string;
}

export interface CreateKycApplicationBody {
  /** Both when left out. */
  readonly allowed_documents?: readonly ("id_card" | "passport")[];
  readonly applicant_email?: string;
  readonly applicant_phone?: string;
  readonly client_id?: string;
  /** Yours for the applicant; comes back on every webhook. */
  readonly external_id?: string;
  /** Upper and lower case are the same here: any case is accepted. */
  readonly locale?: "fr" | "ar" | "en";
  /** Submissions on the link; 3 when left out. */
  readonly max_attempts?: number;
  /** Yours; comes back as it was sent. At most 16 KiB, 8 levels deep. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** What the applicant says; the provider compares it with the document. Neither kept, logged nor answered. */
  readonly profile?: Readonly<Record<string, unknown>>;
  /** An absolute https URL without credentials. Letters beyond ASCII need no encoding. Kept as it was sent. */
  readonly redirect_url?: string;
  readonly require_video?: boolean;
  /** Lifetime of the link; the provider's own when left out. */
  readonly ttl_hours?: number;
}

export interface KycApplication {
  readonly id: string;
  readonly created_at: string;
  /** The verification link. Treat it as a secret: whoever has it can submit documents. Absent from 30 days after the application ended: by then it has long led nowhere. */
  readonly link_url?: string;
  readonly link_expires_at: string;
  readonly status: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  /** When the verification provider was last heard of about it. */
  readonly synced_at: string;
  readonly aml_hit_count: number;
  readonly reason_codes: readonly (KycApplicationReasonCodes)[];
  readonly attempts_used: number;
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
  /** As it was sent: key order, escapes and numbers. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface KycApplicationReasonCodes {
  readonly code: string;
  readonly message?: string;
}

export interface ListKycApplicationsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly status?: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  readonly verdict?: "APPROVED" | "NEEDS_REVIEW" | "REJECTED";
  readonly client_id?: string;
  readonly external_id?: string;
  /** Created at this time or later. */
  readonly created_from?: string;
  /** Created before this time, which is itself left out. */
  readonly created_to?: string;
}

export interface Beneficiary {
  readonly id: string;
  readonly client_id: string;
  readonly beneficiary_type: "PERSON" | "COMPANY";
  readonly name: string;
  /** Whether it is shown to users. */
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
  readonly client_id: string;
  readonly beneficiary_type?: "PERSON" | "COMPANY";
  readonly name: string;
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
  readonly limit?: number;
  readonly offset?: number;
  readonly client_id?: string;
  readonly beneficiary_type?: "PERSON" | "COMPANY";
  /** ISO 3166-1 alpha-3. */
  readonly country_code?: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  readonly display?: boolean;
  /** Any part of name, IBAN or account number, in any case; IBANs without their spaces. */
  readonly search?: string;
}

export interface UpdateBeneficiaryBody {
  readonly beneficiary_type?: "PERSON" | "COMPANY";
  readonly name?: string;
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
  readonly currency: string;
  /** Always available and reserved balance together. */
  readonly current_balance: string;
  readonly available_balance: string;
  readonly reserved_balance: string;
  readonly status: "PENDING" | "ACTIVE" | "SUSPENDED" | "CLOSED";
  readonly opened_date: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly closed_date?: string;
  readonly last_activity_date?: string;
  readonly daily_limit?: string;
  readonly monthly_limit?: string;
  readonly yearly_limit?: string;
  readonly description?: string;
  readonly external_account_id?: string;
}

export interface OpenAccountBody {
  readonly client_id: string;
  readonly account_type: "CURRENT" | "SAVINGS" | "ESCROW";
  readonly account_name: string;
  /** ISO 4217, of those that accounts are held in. */
  readonly currency: string;
  /** The most that may go out in a day of UTC. At most the next longer one. */
  readonly daily_limit?: string;
  /** The most that may go out in a month of UTC. At most the next longer one. */
  readonly monthly_limit?: string;
  /** The most that may go out in a year of UTC. At most the next longer one. */
  readonly yearly_limit?: string;
  readonly description?: string;
  /** Your own identifier of the account; unique in your business. */
  readonly external_account_id?: string;
}

export interface ListAccountsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly client_id?: string;
  readonly account_type?: "CURRENT" | "SAVINGS" | "ESCROW";
  readonly status?: "PENDING" | "ACTIVE" | "SUSPENDED" | "CLOSED";
  /** ISO 4217, of those that accounts are held in. */
  readonly currency?: string;
  /** Any part of name, account number or external id, in any case. */
  readonly search?: string;
}

export interface UpdateAccountBody {
  readonly account_name?: string;
  readonly daily_limit?: string | null;
  readonly monthly_limit?: string | null;
  readonly yearly_limit?: string | null;
  readonly description?: string | null;
  readonly external_account_id?: string | null;
}

export interface Client {
  readonly id: string;
  /** Assigned by the platform, one for each business. */
  readonly organization_id: number;
  readonly first_name: string;
  readonly middle_name?: string;
  readonly last_name: string;
  readonly date_of_birth: string;
  readonly gender: "male" | "female";
  /** ISO 3166-1 alpha-3. */
  readonly birth_country: string;
  /** ISO 3166-1 alpha-3. */
  readonly nationality: string;
  /** ISO 3166-1 alpha-3. */
  readonly country_of_tax_residence: string;
  readonly address: string;
  readonly city: string;
  readonly postcode: string;
  readonly state_province?: string;
  /** ISO 3166-1 alpha-3. */
  readonly country_code: string;
  readonly email: string;
  readonly second_email?: string;
  readonly mobile_phone_number?: string;
  readonly second_mobile_phone_number?: string;
  readonly planned_income?: string;
  readonly planned_expenditure?: string;
  /** Yours for the client. */
  readonly external_client_code?: string;
  /** A blocked client gets no new account, beneficiary or KYC application. */
  readonly blocked: boolean;
  /** A mark; it blocks nothing by itself. */
  readonly is_blacklisted: boolean;
  readonly blacklisted_comment?: string;
  readonly risk_level: "Low" | "Medium" | "High";
  readonly kyc_level: "FULL_KYC" | "DOC_ONLY" | "NOT_REQUIRED";
  /** Follows the client's newest KYC application. */
  readonly kyc_status: "NOT_STARTED" | "CREATED" | "PROCESSING" | "ABORTED" | "PENDING_REVIEW" | "VALIDATED" | "DECLINED";
  readonly kyc_note?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CreatePersonBody {
  readonly first_name: string;
  readonly middle_name?: string;
  readonly last_name: string;
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
  readonly blocked?: boolean;
  readonly is_blacklisted?: boolean;
  readonly risk_level?: "Low" | "Medium" | "High";
  readonly state_province?: string;
  readonly second_email?: string;
  readonly mobile_phone_number?: string;
  readonly second_mobile_phone_number?: string;
  readonly planned_income?: string;
  readonly planned_expenditure?: string;
  /** Yours for the client. */
  readonly external_client_code?: string;
  readonly kyc_note?: string;
  readonly blacklisted_comment?: string;
}

export interface ListClientsQuery {
  readonly limit?: number;
  readonly offset?: number;
  /** Clients of another one are none. */
  readonly organization_id?: number;
  readonly kyc_status?: "NOT_STARTED" | "CREATED" | "PROCESSING" | "ABORTED" | "PENDING_REVIEW" | "VALIDATED" | "DECLINED";
  readonly risk_level?: "Low" | "Medium" | "High";
  readonly is_blacklisted?: boolean;
  readonly blocked?: boolean;
  /** Any part of the names, the e-mail address or the external client code, in any case. */
  readonly search?: string;
  readonly email?: string;
  readonly external_client_code?: string;
}

export interface UpdatePersonBody {
  readonly address?: string;
  readonly city?: string;
  readonly postcode?: string;
  readonly country_code?: "AFG" | "ALA" | "ALB" | "DZA" | "ASM" | "AND" | "AGO" | "AIA" | "ATA" | "ATG" | "ARG" | "ARM" | "ABW" | "AUS" | "AUT" | "AZE" | "BHS" | "BHR" | "BGD" | "BRB" | "BLR" | "BEL" | "BLZ" | "BEN" | "BMU" | "BTN" | "BOL" | "BES" | "BIH" | "BWA" | "BVT" | "BRA" | "IOT" | "BRN" | "BGR" | "BFA" | "BDI" | "CPV" | "KHM" | "CMR" | "CAN" | "CYM" | "CAF" | "TCD" | "CHL" | "CHN" | "CXR" | "CCK" | "COL" | "COM" | "COG" | "COD" | "COK" | "CRI" | "CIV" | "HRV" | "CUB" | "CUW" | "CYP" | "CZE" | "DNK" | "DJI" | "DMA" | "DOM" | "ECU" | "EGY" | "SLV" | "GNQ" | "ERI" | "EST" | "SWZ" | "ETH" | "FLK" | "FRO" | "FJI" | "FIN" | "FRA" | "GUF" | "PYF" | "ATF" | "GAB" | "GMB" | "GEO" | "DEU" | "GHA" | "GIB" | "GRC" | "GRL" | "GRD" | "GLP" | "GUM" | "GTM" | "GGY" | "GIN" | "GNB" | "GUY" | "HTI" | "HMD" | "VAT" | "HND" | "HKG" | "HUN" | "ISL" | "IND" | "IDN" | "IRN" | "IRQ" | "IRL" | "IMN" | "ISR" | "ITA" | "JAM" | "JPN" | "JEY" | "JOR" | "KAZ" | "KEN" | "KIR" | "PRK" | "KOR" | "KWT" | "KGZ" | "LAO" | "LVA" | "LBN" | "LSO" | "LBR" | "LBY" | "LIE" | "LTU" | "LUX" | "MAC" | "MDG" | "MWI" | "MYS" | "MDV" | "MLI" | "MLT" | "MHL" | "MTQ" | "MRT" | "MUS" | "MYT" | "MEX" | "FSM" | "MDA" | "MCO" | "MNG" | "MNE" | "MSR" | "MAR" | "MOZ" | "MMR" | "NAM" | "NRU" | "NPL" | "NLD" | "NCL" | "NZL" | "NIC" | "NER" | "NGA" | "NIU" | "NFK" | "MKD" | "MNP" | "NOR" | "OMN" | "PAK" | "PLW" | "PSE" | "PAN" | "PNG" | "PRY" | "PER" | "PHL" | "PCN" | "POL" | "PRT" | "PRI" | "QAT" | "REU" | "ROU" | "RUS" | "RWA" | "BLM" | "SHN" | "KNA" | "LCA" | "MAF" | "SPM" | "VCT" | "WSM" | "SMR" | "STP" | "SAU" | "SEN" | "SRB" | "SYC" | "SLE" | "SGP" | "SXM" | "SVK" | "SVN" | "SLB" | "SOM" | "ZAF" | "SGS" | "SSD" | "ESP" | "LKA" | "SDN" | "SUR" | "SJM" | "SWE" | "CHE" | "SYR" | "TWN" | "TJK" | "TZA" | "THA" | "TLS" | "TGO" | "TKL" | "TON" | "TTO" | "TUN" | "TUR" | "TKM" | "TCA" | "TUV" | "UGA" | "UKR" | "ARE" | "GBR" | "USA" | "UMI" | "URY" | "UZB" | "VUT" | "VEN" | "VNM" | "VGB" | "VIR" | "WLF" | "ESH" | "YEM" | "ZMB" | "ZWE";
  readonly email?: string;
  readonly blocked?: boolean;
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
  /** ISO 3166-1 numeric. */
  readonly funds_origin_country_id?: number;
  readonly tax_identification_number?: string;
  /** The client's newest KYC application. */
  readonly kyc_application_id?: string;
  /** Its link, a secret, while the applicant can go on with it. */
  readonly kyc_link?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CreateOnboardingDetailsBody {
  /** The same under both names. */
  readonly account_purposes: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  /** The same under both names. */
  readonly account_purposes_input?: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  readonly expected_monthly_incoming_volume: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  readonly expected_monthly_outgoing_volume: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  readonly is_us_person: boolean;
  readonly occupation: "BUSINESS_OWNER" | "CLERGY" | "CRAFTSMAN" | "ENGINEER" | "EXECUTIVE" | "FARMER" | "FREELANCE" | "LIBERAL_PROFESSION" | "POLITICIAN" | "PROFESSOR" | "PUBLIC_SERVANT" | "RETIRED" | "SHOPKEEPER" | "STUDENT" | "UNEMPLOYED" | "WORKER" | "OTHER";
  readonly occupation_sector: "ACCOUNTING_AUDIT" | "E_MONEY_SERVICES" | "CURRENCY_EXCHANGE" | "TRADES_ON_OTC_MARKET" | "PRECIOUS_METALS_OR_STONES" | "PAWNSHOPS" | "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS" | "MINING_EXTRACTIVE_INDUSTRIES" | "ENERGY" | "TRADE_IN_PETROL_PRODUCTS" | "TRADE_IN_MEDICINES" | "REAL_ESTATE" | "CONSTRUCTION_REPAIR" | "CONSULTANCY_LEGAL" | "FREELANCE" | "NON_PROFIT_LEGAL_ENTITIES" | "CRYPTOCURRENCIES" | "GAMING" | "GAMBLING" | "EU_FUNDS_UTILIZATION" | "ADULT" | "HIGH_VALUE_ASSET_DEALER" | "BANKING_LENDING" | "INSURANCE_SECURITY" | "TRANSPORTATION_AND_LOGISTICS" | "MANUFACTURING" | "UTILITIES_AND_INFRASTRUCTURE" | "TRADE_IN_FOOD_PRODUCT" | "WHOLESALE" | "REPAIR_OF_MOTOR_VEHICLES" | "SOCIAL_WORK_ACTIVITIES" | "AUTO_AVIATION" | "COURIER_POST_SERVICES" | "AGRICULTURE_FORESTRY_AND_FISHING" | "OTHER_TRADE_AND_SALES" | "TRAVEL_TOURISM" | "INFORMATION_AND_COMMUNICATION" | "PR_MARKETING" | "EDUCATION" | "INFORMATIONAL_TECHNOLOGIES" | "PUBLIC_AND_DEFENCE_SECTOR" | "HEALTH_CARE_MEDICAL_SERVICES" | "ART_ENTERTAINMENT_SPORT" | "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES" | "HOSPITALITY_AND_LEISURE" | "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES" | "OTHER";
  readonly source_of_funds: "COMPENSATION_PAYOUT" | "COMPANY_PROFITS" | "COMPANY_SALE" | "DIVIDEND_PAYMENTS" | "DIVORCE_SETTLEMENT" | "FIXED_DEPOSITS" | "GIFT" | "INHERITANCE" | "INSURANCE_PAYOUT" | "LOAN" | "LOTTERY_OR_GAMBLING_WIN" | "RETIREMENT_INCOME" | "SALE_OF_INVESTMENT" | "SALE_OF_PROPERTY" | "SAVINGS_FROM_SALARY" | "OTHER";
  /** Needed when occupation is OTHER. */
  readonly other_occupation?: string;
  /** Needed when source_of_funds is OTHER. */
  readonly other_source_of_funds?: string;
  readonly funds_origin_country_id?: 4 | 248 | 8 | 12 | 16 | 20 | 24 | 660 | 10 | 28 | 32 | 51 | 533 | 36 | 40 | 31 | 44 | 48 | 50 | 52 | 112 | 56 | 84 | 204 | 60 | 64 | 68 | 535 | 70 | 72 | 74 | 76 | 86 | 96 | 100 | 854 | 108 | 132 | 116 | 120 | 124 | 136 | 140 | 148 | 152 | 156 | 162 | 166 | 170 | 174 | 178 | 180 | 184 | 188 | 384 | 191 | 192 | 531 | 196 | 203 | 208 | 262 | 212 | 214 | 218 | 818 | 222 | 226 | 232 | 233 | 748 | 231 | 238 | 234 | 242 | 246 | 250 | 254 | 258 | 260 | 266 | 270 | 268 | 276 | 288 | 292 | 300 | 304 | 308 | 312 | 316 | 320 | 831 | 324 | 624 | 328 | 332 | 334 | 336 | 340 | 344 | 348 | 352 | 356 | 360 | 364 | 368 | 372 | 833 | 376 | 380 | 388 | 392 | 832 | 400 | 398 | 404 | 296 | 408 | 410 | 414 | 417 | 418 | 428 | 422 | 426 | 430 | 434 | 438 | 440 | 442 | 446 | 450 | 454 | 458 | 462 | 466 | 470 | 584 | 474 | 478 | 480 | 175 | 484 | 583 | 498 | 492 | 496 | 499 | 500 | 504 | 508 | 104 | 516 | 520 | 524 | 528 | 540 | 554 | 558 | 562 | 566 | 570 | 574 | 807 | 580 | 578 | 512 | 586 | 585 | 275 | 591 | 598 | 600 | 604 | 608 | 612 | 616 | 620 | 630 | 634 | 638 | 642 | 643 | 646 | 652 | 654 | 659 | 662 | 663 | 666 | 670 | 882 | 674 | 678 | 682 | 686 | 688 | 690 | 694 | 702 | 534 | 703 | 705 | 90 | 706 | 710 | 239 | 728 | 724 | 144 | 729 | 740 | 744 | 752 | 756 | 760 | 158 | 762 | 834 | 764 | 626 | 768 | 772 | 776 | 780 | 788 | 792 | 795 | 796 | 798 | 800 | 804 | 784 | 826 | 840 | 581 | 858 | 860 | 548 | 862 | 704 | 92 | 850 | 876 | 732 | 887 | 894 | 716;
  readonly tax_identification_number?: string;
}

export interface UpdateOnboardingDetailsBody {
  /** The same under both names. */
  readonly account_purposes?: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  /** The same under both names. */
  readonly account_purposes_input?: readonly ("PAY_BILLS" | "MONEY_TO_FROM_FAMILY" | "DIVIDENDS" | "SAVINGS" | "PERSONAL_BUSINESS_PURPOSES" | "PENSION" | "CRYPTO" | "SALARY" | "LOTTERY_GAMING" | "RECONCILIATION" | "VIRTUAL_ACCOUNT" | "CURRENCY_EXCHANGE" | "OTHER")[];
  readonly expected_monthly_incoming_volume?: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
  readonly expected_monthly_outgoing_volume?: "LESS_THAN1000" | "BETWEEN1001_AND5000" | "BETWEEN5001_AND10000" | "BETWEEN10001_AND15000" | "BETWEEN15001_AND30000" | "BETWEEN30001_AND60000" | "MORE_THAN60001";
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
  /** The client's newest KYC application. */
  readonly kyc_application_id?: string;
  /** Its link, a secret, while the applicant can go on with it. */
  readonly kyc_link?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Payment {
  readonly id: string;
  readonly business_id: string;
  readonly amount: string;
  readonly currency: string;
  readonly status: "PENDING" | "PAID" | "FAILED" | "REFUSED" | "CANCELED" | "REFUNDED" | "EXPIRED";
  readonly language: string;
  readonly success_url: string;
  readonly fail_url: string;
  readonly processor_order_number: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly paid_at?: string;
  readonly action_code?: string;
  readonly action_code_description?: string;
  readonly approval_code?: string;
  readonly card_brand?: string;
  readonly description?: string;
  readonly form_url?: string;
  readonly masked_pan?: string;
  readonly order_ref?: string;
  readonly resp_code?: string;
  readonly resp_code_desc?: string;
  readonly processor_error_code?: string;
  readonly processor_order_id?: string;
  readonly processor_order_status?: number;
  readonly refunded_amount?: string;
  /** PROCESSOR: given back or reversed there, not through this API. */
  readonly origin?: string;
}

export interface CreatePaymentBody {
  /** In DZD, at least 50.00 and at most 999999999999.99. */
  readonly amount: string;
  /** An absolute https URL without credentials. Letters beyond ASCII need no encoding. Kept as it was sent. */
  readonly success_url: string;
  /** An absolute https URL without credentials. Letters beyond ASCII need no encoding. Kept as it was sent. */
  readonly fail_url: string;
  /** At most 20 UTF-16 units; most emoji are two. */
  readonly order_ref?: string;
  /** At most 512 UTF-16 units; most emoji are two. */
  readonly description?: string;
  /** Upper and lower case are the same here: any case is accepted. */
  readonly language?: "AR" | "FR" | "EN";
  readonly currency?: "DZD";
}

export interface ListPaymentsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly status?: "PENDING" | "PAID" | "FAILED" | "REFUSED" | "CANCELED" | "REFUNDED" | "EXPIRED";
  /** At most 20 UTF-16 units; most emoji are two. */
  readonly order_ref?: string;
  readonly payment_link_id?: string;
  /** Created at this time or later. */
  readonly created_from?: string;
  /** Created before this time, which is itself left out. */
  readonly created_to?: string;
}

export interface RefundPaymentBody {
  /** In DZD, at most what was paid. */
  readonly amount?: string;
}

export interface CreateWebhookEndpointResult {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types it receives, written out also when it has the default: all but the opt-in ones. */
  readonly events: readonly (string)[];
  readonly created_at: string;
  /** The signing secret, only in the answer that makes it. */
  readonly secret?: string;
}

export interface CreateWebhookEndpointBody {
  /** Absolute, https, public, at most 2048 characters, without credentials and without a fragment. A development system also takes http and this machine's own addresses. */
  readonly url: string;
  /** Event types it is to receive. Empty means the default: all but the opt-in ones. */
  readonly events?: readonly ("KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED")[];
}

export interface ListWebhookEndpointsItem {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types it receives, written out also when it has the default: all but the opt-in ones. */
  readonly events: readonly (string)[];
  readonly created_at: string;
  readonly updated_at: string;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types it receives, written out also when it has the default: all but the opt-in ones. */
  readonly events: readonly (string)[];
  readonly created_at: string;
  readonly updated_at: string;
  /** How deliveries to it went. Attempts count after a few seconds, and the edges of hour and day are five minutes wide. */
  readonly health?: WebhookEndpointHealth;
}

export interface WebhookEndpointHealth {
  /** Since when every attempt has failed; five days of it disable the endpoint. */
  readonly failing_since?: string;
  /** The part of the last hour's attempts that succeeded; absent without any. */
  readonly success_rate_1h?: number;
  /** The part of the last day's attempts that succeeded; absent without any. */
  readonly success_rate_24h?: number;
  /** Of the newest attempt that failed within a day: the code of its `error`, or `http_` and the status. */
  readonly last_error?: string;
  /** 95 of 100 attempts of the last day took no longer, estimated to a fifth, in milliseconds. */
  readonly p95_ms_24h?: number;
}

export interface UpdateWebhookEndpointResult {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly status: "ACTIVE" | "DISABLED";
  /** Event types it receives, written out also when it has the default: all but the opt-in ones. */
  readonly events: readonly (string)[];
  readonly updated_at: string;
  /** The signing secret, only in the answer that makes it. */
  readonly secret?: string;
}

export interface UpdateWebhookEndpointBody {
  /** Absolute, https, public, at most 2048 characters, without credentials and without a fragment. A development system also takes http and this machine's own addresses. */
  readonly url?: string;
  readonly rotate_secret?: boolean;
  readonly activate_in_seconds?: number;
  readonly status?: "ACTIVE" | "DISABLED";
  readonly events?: readonly ("KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED")[] | null;
}

export interface TestWebhookEndpointResult {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  /** What every delivery of the event carries, byte for byte as it was signed. */
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
  readonly status_code?: number;
  /** Why no answer came; absent when a status came, and for attempts made before there were codes. */
  readonly error?: "timeout" | "dns_error" | "connection_refused" | "connection_reset" | "tls_error" | "address_forbidden" | "invalid_response" | "secret_unreadable";
  /** The same in words. */
  readonly detail?: string;
  readonly duration_ms: number;
  /** The first KiB of the answer. */
  readonly response?: string;
}

export interface CheckWebhookEndpointResult {
  readonly checks: readonly (CheckWebhookEndpointResultChecks)[];
}

export interface CheckWebhookEndpointResultChecks {
  readonly name: "good" | "forged_signature" | "duplicate" | "old_timestamp";
  readonly passed: boolean;
  /** What it answered, and what to do about it. */
  readonly detail: string;
}

export interface WebhookReplay {
  readonly id: string;
  readonly status: "RUNNING" | "DONE";
  /** Deliveries that the filter names; while it is RUNNING they may still be counted. */
  readonly matched: number;
  /** Those of them that were started anew. */
  readonly sent: number;
}

export interface ReplayWebhookEndpointBody {
  /** Events are kept for 30 days. */
  readonly since: string;
  /** Exclusive end of the range. */
  readonly until?: string;
  readonly types?: readonly ("KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED" | "WEBHOOK_TEST")[];
  /** pending: those that wait for a later attempt, which comes now. */
  readonly statuses?: readonly ("pending" | "succeeded" | "failed" | "skipped")[];
}

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  /** What every delivery of the event carries, byte for byte as it was signed. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ListEventsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly type?: "KYC_COMPLETED" | "KYC_REJECTED" | "KYC_NEEDS_REVIEW" | "KYC_REVIEW_RESOLVED" | "KYC_FAILED" | "KYC_EXPIRED" | "KYC_CANCELED" | "KYC_DOCUMENT_EXPIRING" | "KYC_DOCUMENT_EXPIRED" | "PAYMENT_COMPLETED" | "PAYMENT_REFUSED" | "PAYMENT_FAILED" | "PAYMENT_CANCELED" | "PAYMENT_EXPIRED" | "PAYMENT_REFUNDED" | "WEBHOOK_ENDPOINT_DISABLED" | "WEBHOOK_TEST";
  /** Created at this time or later. */
  readonly from?: string;
  /** Created before this time, which is itself left out. */
  readonly to?: string;
}

export interface RedeliverEventBody {
  readonly endpoint_id?: string;
}

export interface Business {
  readonly id: string;
  readonly name: string;
  readonly status: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly created_at: string;
  readonly updated_at: string;
  /** Assigned by the platform, one for each business. */
  readonly organization_id: number;
  /** Of a business that registered itself. */
  readonly contact_email?: string;
  /** The plaintext key, only in the answer that issues it. */
  readonly api_key?: string;
  /** First 16 characters of the newest live key. */
  readonly api_key_prefix?: string;
}

export interface CreateBusinessBody {
  readonly name: string;
  readonly status?: "ACTIVE" | "PENDING";
}

export interface ListBusinessesQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly status?: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  /** Any part of the name, in any case. */
  readonly search?: string;
}

export interface UpdateBusinessBody {
  readonly name?: string;
  readonly status?: "PENDING" | "ACTIVE" | "DISABLED" | "REJECTED";
  readonly rotate_api_key?: boolean;
}

export interface ReviewKycApplicationResult {
  readonly id: string;
  readonly created_at: string;
  readonly link_expires_at: string;
  readonly status: "CREATED" | "OPENED" | "SUBMITTED" | "PROCESSING" | "COMPLETED" | "EXPIRED" | "CANCELED" | "FAILED";
  /** When the verification provider was last heard of about it. */
  readonly synced_at: string;
  readonly aml_hit_count: number;
  readonly reason_codes: readonly (KycApplicationReasonCodes)[];
  readonly attempts_used: number;
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
  /** As it was sent: key order, escapes and numbers. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ReviewKycApplicationBody {
  readonly outcome: "APPROVED" | "REJECTED";
  /** Why; kept in the audit trail. */
  readonly note: string;
}

export interface ApproveOnboardingBody {
  /** Why; kept in the audit trail. */
  readonly reason?: string;
}

export interface CreateApiKeyResult {
  readonly id: string;
  readonly business_id: string;
  readonly name: string;
  /** The plaintext key, only in the answer that issues it. */
  readonly api_key?: string;
  readonly api_key_prefix: string;
  readonly created_at: string;
  readonly expires_at?: string;
  /** The only networks the key may be used from, in canonical form. Absent: from anywhere. */
  readonly allowed_ips?: readonly (string)[];
}

export interface CreateApiKeyBody {
  readonly business_id: string;
  readonly name: string;
  /** In the future. Absent: the key has no end. */
  readonly expires_at?: string;
  /** CIDRs, of IPv4 or IPv6: calls from elsewhere are refused with 403. Absent: from anywhere. */
  readonly allowed_ips?: readonly (string)[];
}

export interface ApiKey {
  readonly id: string;
  readonly business_id: string;
  readonly name: string;
  readonly api_key_prefix: string;
  readonly created_at: string;
  readonly last_used_at?: string;
  readonly expires_at?: string;
  /** The only networks the key may be used from, in canonical form. Absent: from anywhere. */
  readonly allowed_ips?: readonly (string)[];
  readonly revoked_at?: string;
}

export interface ListApiKeysQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly business_id?: string;
}

export interface RevokeApiKeyResult {
  readonly id: string;
  readonly business_id: string;
  readonly name: string;
  readonly api_key_prefix: string;
  readonly revoked_at?: string;
}

export interface CreateOperatorKeyResult {
  readonly id: string;
  readonly name: string;
  /** The plaintext key, only in the answer that issues it. */
  readonly admin_key?: string;
  readonly admin_key_prefix: string;
  readonly created_at: string;
}

export interface CreateOperatorKeyBody {
  readonly name: string;
}

export interface OperatorKey {
  readonly id: string;
  readonly name: string;
  readonly admin_key_prefix: string;
  readonly created_at: string;
  /** To the minute. */
  readonly last_used_at?: string;
  readonly revoked_at?: string;
}

export interface CreateInvitationResult {
  readonly id: string;
  readonly name: string;
  /** The plaintext token, only in the answer that issues it. */
  readonly invitation_token?: string;
  readonly token_prefix: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface CreateInvitationBody {
  /** Whom it is for. */
  readonly name: string;
  /** At most 30 days ahead; 7 days when it is left out. */
  readonly expires_at?: string;
}

export interface Invitation {
  readonly id: string;
  readonly name: string;
  readonly token_prefix: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly used_at?: string;
  /** The business that was registered with it. */
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
  readonly needs_decision: boolean;
  /** OUTCOME_UNKNOWN: nothing told it in a day. UNEXPLAINED: what the processor says fits no rule. */
  readonly decision_reason?: string;
  readonly needs_decision_since?: string;
  /** What an operator decided last. */
  readonly resolution?: "ACCEPTED" | "REJECTED" | "SEND_AGAIN";
  /** How often it was sent. */
  readonly sends: number;
  readonly last_sent_at?: string;
  readonly processor_error_code?: string;
  readonly payment_status: string;
  readonly payment_amount: string;
  readonly payment_refunded_amount?: string;
  /** What the card processor said when the order was last read. */
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
  readonly limit?: number;
  readonly offset?: number;
  readonly needs_decision?: boolean;
}

export interface ResolveRefundBody {
  readonly outcome: "ACCEPTED" | "REJECTED" | "SEND_AGAIN";
  /** Why; kept in the audit trail. */
  readonly note: string;
}

export interface PaymentTimeline {
  readonly payment: Payment;
  /** Oldest first; within a millisecond, causes before what they brought about. Calls, events and attempts of the last 30 days. */
  readonly entries: readonly (PaymentTimelineEntries)[];
  /** What could not be read just now: `events`, with the attempts to deliver them. Absent when all is here. */
  readonly missing?: readonly ("events")[];
  /** What there is more of than is here: of more than 200 calls the first 50 and the newest 150; 20 events, and the newest 50 attempts of a delivery. Absent when nothing was left out. */
  readonly truncated?: readonly ("processor_calls" | "events")[];
}

export interface PaymentTimelineEntries {
  /** When it happened or began; of next_attempt, when it will. */
  readonly at: string;
  readonly kind: "payment" | "processor_call" | "refund" | "event" | "delivery_attempt" | "next_attempt";
  /** The status that a payment or refund came to, the operation of a call, or the type of an event. */
  readonly name: string;
  /** Of a call: ACCEPTED, REFUSED, UNKNOWN or NOT_SENT. Of an attempt: the status that came, or why none did. */
  readonly outcome?: string;
  readonly detail?: string;
  readonly duration_ms?: number;
  readonly refund_id?: string;
  readonly event_id?: string;
  readonly endpoint_id?: string;
}

export interface ListChangedPaymentsItem {
  readonly id: string;
  readonly business_id: string;
  readonly amount: string;
  readonly currency: string;
  readonly status: "PENDING" | "PAID" | "FAILED" | "REFUSED" | "CANCELED" | "REFUNDED" | "EXPIRED";
  readonly language: string;
  readonly success_url: string;
  readonly fail_url: string;
  readonly processor_order_number: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly paid_at?: string;
  readonly action_code?: string;
  readonly action_code_description?: string;
  readonly approval_code?: string;
  readonly card_brand?: string;
  readonly description?: string;
  readonly form_url?: string;
  readonly masked_pan?: string;
  readonly order_ref?: string;
  readonly resp_code?: string;
  readonly resp_code_desc?: string;
  readonly processor_error_code?: string;
  readonly processor_order_id?: string;
  readonly processor_order_status?: number;
  readonly refunded_amount?: string;
  /** PROCESSOR: given back or reversed there, not through this API. */
  readonly origin?: string;
  /** What the processor says and no rule explains; nothing was changed for it. A person has to look. */
  readonly difference?: string;
  /** What the card processor said when the order was last read. */
  readonly processor: RefundProcessor;
}

export interface ListChangedPaymentsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly origin?: "PROCESSOR";
}

export interface AuditEvent {
  readonly id: string;
  readonly at: string;
  /** The first 16 characters of the key; "platform", which acts by itself; or "command:" and the name of who used the command `amana`. */
  readonly actor: string;
  readonly actor_key_id?: string;
  /** What that key was called. */
  readonly actor_name?: string;
  readonly action: string;
  readonly entity: AuditEventEntity;
  readonly business_id?: string;
  /** What it was, without secrets; absent when it was not there. */
  readonly before?: Readonly<Record<string, unknown>>;
  /** What it became. */
  readonly after?: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  readonly request_id: string;
  /** Where the request came from. */
  readonly address: string;
}

export interface AuditEventEntity {
  readonly type: string;
  readonly id: string;
}

export interface ListAuditEventsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly business_id?: string;
  readonly action?: string;
  readonly entity_id?: string;
  /** Done at this time or later. */
  readonly from?: string;
  /** Done before this time, which is itself left out. */
  readonly to?: string;
}

export interface ListDeadLettersItem {
  readonly id: string;
  /** The consuming service. */
  readonly service: string;
  readonly topic: string;
  /** The id by which businesses know the event. */
  readonly event_id: string;
  readonly event_type: string;
  /** Id of what the event is about. */
  readonly key: string;
  /** RETRYING: retried by itself. WAITING: for a version that knows its type. PARKED: failed to the end of the schedule; an operator decides. FORGED: rejected by an earlier version, now only logged. DELIVERED and DROPPED are the end. */
  readonly status: "RETRYING" | "WAITING" | "PARKED" | "FORGED" | "DELIVERED" | "DROPPED";
  /** Why the last attempt failed. */
  readonly reason: string;
  readonly attempts: number;
  readonly next_attempt_at?: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ListDeadLettersQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly service?: "webhooks" | "clients" | "identity";
  readonly topic?: string;
  readonly status?: "RETRYING" | "WAITING" | "PARKED" | "FORGED" | "DELIVERED" | "DROPPED";
}

export interface DeadLetter {
  readonly id: string;
  /** The consuming service. */
  readonly service: string;
  readonly topic: string;
  /** The id by which businesses know the event. */
  readonly event_id: string;
  readonly event_type: string;
  /** Id of what the event is about. */
  readonly key: string;
  /** RETRYING: retried by itself. WAITING: for a version that knows its type. PARKED: failed to the end of the schedule; an operator decides. FORGED: rejected by an earlier version, now only logged. DELIVERED and DROPPED are the end. */
  readonly status: "RETRYING" | "WAITING" | "PARKED" | "FORGED" | "DELIVERED" | "DROPPED";
  /** Why the last attempt failed. */
  readonly reason: string;
  readonly attempts: number;
  readonly next_attempt_at?: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload_bytes: number;
  /** The event with ids, enumerations and numbers; of other texts only the length. Only when read by its id. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface DropDeadLetterBody {
  /** Why; kept in the audit trail. */
  readonly note: string;
}

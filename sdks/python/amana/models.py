# Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class OnboardBusinessResult(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    created_at: str
    updated_at: str
    # Of a business that registered itself.
    contact_email: NotRequired[str]
    # The plaintext key, only in the answer that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the newest live key.
    api_key_prefix: NotRequired[str]


class OnboardBusinessBody(TypedDict):
    name: str
    contact_email: str


class OwnBusiness(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    created_at: str
    updated_at: str
    # First 16 characters of the newest live key.
    api_key_prefix: NotRequired[str]


class UpdateOwnBusinessResult(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    updated_at: str
    # The plaintext key, only in the answer that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the newest live key.
    api_key_prefix: NotRequired[str]


class UpdateOwnBusinessBody(TypedDict):
    name: NotRequired[str]
    rotate_api_key: NotRequired[bool]
    previous_key_ttl_seconds: NotRequired[int]


class OwnApiKey(TypedDict):
    id: str
    name: str
    prefix: str
    created_at: str
    last_used_at: NotRequired[str]
    expires_at: NotRequired[str]
    # The only networks the key may be used from, in canonical form. Absent: from anywhere.
    allowed_ips: NotRequired[list[str]]
    revoked_at: NotRequired[str]


class ListOwnApiKeysQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class CreateOwnApiKeyResult(TypedDict):
    id: str
    name: str
    # The plaintext key, only in the answer that issues it.
    api_key: NotRequired[str]
    prefix: str
    created_at: str
    expires_at: NotRequired[str]
    # The only networks the key may be used from, in canonical form. Absent: from anywhere.
    allowed_ips: NotRequired[list[str]]


class CreateOwnApiKeyBody(TypedDict):
    name: str
    # In the future. Absent: the key has no end.
    expires_at: NotRequired[str]
    # CIDRs, of IPv4 or IPv6: calls from elsewhere are refused with 403. Absent: from anywhere.
    allowed_ips: NotRequired[list[str]]


class RevokeOwnApiKeyResult(TypedDict):
    id: str
    name: str
    prefix: str
    revoked_at: NotRequired[str]


class RevokeOwnApiKeyBody(TypedDict):
    reason: NotRequired[str]


class CreateKycApplicationResult(TypedDict):
    id: str
    created_at: str
    # The verification link. Treat it as a secret: whoever has it can submit documents.
    link_url: str
    link_expires_at: str
    status: Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]
    client_id: NotRequired[str]
    external_id: NotRequired[str]


class CreateKycApplicationBody(TypedDict):
    # Both when left out.
    allowed_documents: NotRequired[list[Literal["id_card", "passport"]]]
    applicant_email: NotRequired[str]
    applicant_phone: NotRequired[str]
    client_id: NotRequired[str]
    # Yours for the applicant; comes back on every webhook.
    external_id: NotRequired[str]
    # Upper and lower case are the same here: any case is accepted.
    locale: NotRequired[Literal["fr", "ar", "en"]]
    # Submissions on the link; 3 when left out.
    max_attempts: NotRequired[int]
    # Yours; comes back as it was sent. At most 16 KiB, 8 levels deep.
    metadata: NotRequired[dict[str, Any]]
    # What the applicant says; the provider compares it with the document. Neither kept, logged nor answered.
    profile: NotRequired[dict[str, Any]]
    # An absolute https URL without credentials. Letters beyond ASCII need no encoding. Kept as it was sent.
    redirect_url: NotRequired[str]
    require_video: NotRequired[bool]
    # Lifetime of the link; the provider's own when left out.
    ttl_hours: NotRequired[int]


class KycApplication(TypedDict):
    id: str
    created_at: str
    # The verification link. Treat it as a secret: whoever has it can submit documents. Absent from 30 days after the application ended: by then it has long led nowhere.
    link_url: NotRequired[str]
    link_expires_at: str
    status: Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]
    # When the verification provider was last heard of about it.
    synced_at: str
    aml_hit_count: int
    reason_codes: list[KycApplicationReasonCodes]
    attempts_used: int
    attempts_remaining: int
    client_id: NotRequired[str]
    external_id: NotRequired[str]
    verdict: NotRequired[Literal["APPROVED", "NEEDS_REVIEW", "REJECTED"]]
    completed_at: NotRequired[str]
    decision_summary: NotRequired[str]
    document_type: NotRequired[Literal["id_card", "passport"]]
    document_expiry: NotRequired[str]
    nationality: NotRequired[str]
    liveness_outcome: NotRequired[str]
    face_match_outcome: NotRequired[str]
    aml_decision: NotRequired[str]
    error_message: NotRequired[str]
    # As it was sent: key order, escapes and numbers.
    metadata: dict[str, Any]


class KycApplicationReasonCodes(TypedDict):
    code: str
    message: NotRequired[str]


class ListKycApplicationsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    status: NotRequired[Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]]
    verdict: NotRequired[Literal["APPROVED", "NEEDS_REVIEW", "REJECTED"]]
    client_id: NotRequired[str]
    external_id: NotRequired[str]
    # Created at this time or later.
    created_from: NotRequired[str]
    # Created before this time, which is itself left out.
    created_to: NotRequired[str]


class Beneficiary(TypedDict):
    id: str
    client_id: str
    beneficiary_type: Literal["PERSON", "COMPANY"]
    name: str
    # Whether it is shown to users.
    display: bool
    created_at: str
    updated_at: str
    account_number: NotRequired[str]
    iban: NotRequired[str]
    bic: NotRequired[str]
    swift_code: NotRequired[str]
    routing_number: NotRequired[str]
    bank_name: NotRequired[str]
    bank_address: NotRequired[str]
    address: NotRequired[str]
    city: NotRequired[str]
    postal_code: NotRequired[str]
    country_code: NotRequired[str]


class CreateBeneficiaryBody(TypedDict):
    client_id: str
    beneficiary_type: NotRequired[Literal["PERSON", "COMPANY"]]
    name: str
    display: NotRequired[bool]
    account_number: NotRequired[str | None]
    iban: NotRequired[str | None]
    bic: NotRequired[str | None]
    swift_code: NotRequired[str | None]
    routing_number: NotRequired[str | None]
    bank_name: NotRequired[str | None]
    bank_address: NotRequired[str | None]
    address: NotRequired[str | None]
    city: NotRequired[str | None]
    postal_code: NotRequired[str | None]
    country_code: NotRequired[Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"] | None]


class ListBeneficiariesQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    client_id: NotRequired[str]
    beneficiary_type: NotRequired[Literal["PERSON", "COMPANY"]]
    # ISO 3166-1 alpha-3.
    country_code: NotRequired[Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]]
    display: NotRequired[bool]
    # Any part of name, IBAN or account number, in any case; IBANs without their spaces.
    search: NotRequired[str]


class UpdateBeneficiaryBody(TypedDict):
    beneficiary_type: NotRequired[Literal["PERSON", "COMPANY"]]
    name: NotRequired[str]
    display: NotRequired[bool]
    account_number: NotRequired[str | None]
    iban: NotRequired[str | None]
    bic: NotRequired[str | None]
    swift_code: NotRequired[str | None]
    routing_number: NotRequired[str | None]
    bank_name: NotRequired[str | None]
    bank_address: NotRequired[str | None]
    address: NotRequired[str | None]
    city: NotRequired[str | None]
    postal_code: NotRequired[str | None]
    country_code: NotRequired[Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"] | None]


class Account(TypedDict):
    id: str
    client_id: str
    account_name: str
    account_number: str
    account_type: Literal["CURRENT", "SAVINGS", "ESCROW"]
    currency: str
    # Always available and reserved balance together.
    current_balance: str
    available_balance: str
    reserved_balance: str
    status: Literal["PENDING", "ACTIVE", "SUSPENDED", "CLOSED"]
    opened_date: str
    created_at: str
    updated_at: str
    closed_date: NotRequired[str]
    last_activity_date: NotRequired[str]
    daily_limit: NotRequired[str]
    monthly_limit: NotRequired[str]
    yearly_limit: NotRequired[str]
    description: NotRequired[str]
    external_account_id: NotRequired[str]


class OpenAccountBody(TypedDict):
    client_id: str
    account_type: Literal["CURRENT", "SAVINGS", "ESCROW"]
    account_name: str
    # ISO 4217, of those that accounts are held in.
    currency: str
    # The most that may go out in a day of UTC. At most the next longer one.
    daily_limit: NotRequired[str]
    # The most that may go out in a month of UTC. At most the next longer one.
    monthly_limit: NotRequired[str]
    # The most that may go out in a year of UTC. At most the next longer one.
    yearly_limit: NotRequired[str]
    description: NotRequired[str]
    # Your own identifier of the account; unique in your business.
    external_account_id: NotRequired[str]


class ListAccountsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    client_id: NotRequired[str]
    account_type: NotRequired[Literal["CURRENT", "SAVINGS", "ESCROW"]]
    status: NotRequired[Literal["PENDING", "ACTIVE", "SUSPENDED", "CLOSED"]]
    # ISO 4217, of those that accounts are held in.
    currency: NotRequired[str]
    # Any part of name, account number or external id, in any case.
    search: NotRequired[str]


class UpdateAccountBody(TypedDict):
    account_name: NotRequired[str]
    daily_limit: NotRequired[str | None]
    monthly_limit: NotRequired[str | None]
    yearly_limit: NotRequired[str | None]
    description: NotRequired[str | None]
    external_account_id: NotRequired[str | None]


class Client(TypedDict):
    id: str
    # Assigned by the platform, one for each business.
    organization_id: int
    first_name: str
    middle_name: NotRequired[str]
    last_name: str
    date_of_birth: str
    gender: Literal["male", "female"]
    # ISO 3166-1 alpha-3.
    birth_country: str
    # ISO 3166-1 alpha-3.
    nationality: str
    # ISO 3166-1 alpha-3.
    country_of_tax_residence: str
    address: str
    city: str
    postcode: str
    state_province: NotRequired[str]
    # ISO 3166-1 alpha-3.
    country_code: str
    email: str
    second_email: NotRequired[str]
    mobile_phone_number: NotRequired[str]
    second_mobile_phone_number: NotRequired[str]
    planned_income: NotRequired[str]
    planned_expenditure: NotRequired[str]
    # Yours for the client.
    external_client_code: NotRequired[str]
    # A blocked client gets no new account, beneficiary or KYC application.
    blocked: bool
    # A mark; it blocks nothing by itself.
    is_blacklisted: bool
    blacklisted_comment: NotRequired[str]
    risk_level: Literal["Low", "Medium", "High"]
    kyc_level: Literal["FULL_KYC", "DOC_ONLY", "NOT_REQUIRED"]
    # Follows the client's newest KYC application.
    kyc_status: Literal["NOT_STARTED", "CREATED", "PROCESSING", "ABORTED", "PENDING_REVIEW", "VALIDATED", "DECLINED"]
    kyc_note: NotRequired[str]
    created_at: str
    updated_at: str


class CreatePersonBody(TypedDict):
    first_name: str
    middle_name: NotRequired[str]
    last_name: str
    date_of_birth: str
    gender: Literal["male", "female"]
    birth_country: Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]
    nationality: Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]
    country_of_tax_residence: Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]
    address: str
    city: str
    postcode: str
    country_code: Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]
    email: str
    kyc_level: NotRequired[Literal["FULL_KYC", "DOC_ONLY", "NOT_REQUIRED"]]
    blocked: NotRequired[bool]
    is_blacklisted: NotRequired[bool]
    risk_level: NotRequired[Literal["Low", "Medium", "High"]]
    state_province: NotRequired[str]
    second_email: NotRequired[str]
    mobile_phone_number: NotRequired[str]
    second_mobile_phone_number: NotRequired[str]
    planned_income: NotRequired[str]
    planned_expenditure: NotRequired[str]
    # Yours for the client.
    external_client_code: NotRequired[str]
    kyc_note: NotRequired[str]
    blacklisted_comment: NotRequired[str]


class ListClientsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    # Clients of another one are none.
    organization_id: NotRequired[int]
    kyc_status: NotRequired[Literal["NOT_STARTED", "CREATED", "PROCESSING", "ABORTED", "PENDING_REVIEW", "VALIDATED", "DECLINED"]]
    risk_level: NotRequired[Literal["Low", "Medium", "High"]]
    is_blacklisted: NotRequired[bool]
    blocked: NotRequired[bool]
    # Any part of the names, the e-mail address or the external client code, in any case.
    search: NotRequired[str]
    email: NotRequired[str]
    external_client_code: NotRequired[str]


class UpdatePersonBody(TypedDict):
    address: NotRequired[str]
    city: NotRequired[str]
    postcode: NotRequired[str]
    country_code: NotRequired[Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]]
    email: NotRequired[str]
    blocked: NotRequired[bool]
    is_blacklisted: NotRequired[bool]
    risk_level: NotRequired[Literal["Low", "Medium", "High"]]
    state_province: NotRequired[str | None]
    second_email: NotRequired[str | None]
    mobile_phone_number: NotRequired[str | None]
    second_mobile_phone_number: NotRequired[str | None]
    planned_income: NotRequired[str | None]
    planned_expenditure: NotRequired[str | None]
    external_client_code: NotRequired[str | None]
    kyc_note: NotRequired[str | None]
    blacklisted_comment: NotRequired[str | None]


class OnboardingDetails(TypedDict):
    id: str
    account_purposes: list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]
    expected_monthly_incoming_volume: Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]
    expected_monthly_outgoing_volume: Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]
    is_us_person: bool
    occupation: Literal["BUSINESS_OWNER", "CLERGY", "CRAFTSMAN", "ENGINEER", "EXECUTIVE", "FARMER", "FREELANCE", "LIBERAL_PROFESSION", "POLITICIAN", "PROFESSOR", "PUBLIC_SERVANT", "RETIRED", "SHOPKEEPER", "STUDENT", "UNEMPLOYED", "WORKER", "OTHER"]
    other_occupation: NotRequired[str]
    occupation_sector: Literal["ACCOUNTING_AUDIT", "E_MONEY_SERVICES", "CURRENCY_EXCHANGE", "TRADES_ON_OTC_MARKET", "PRECIOUS_METALS_OR_STONES", "PAWNSHOPS", "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS", "MINING_EXTRACTIVE_INDUSTRIES", "ENERGY", "TRADE_IN_PETROL_PRODUCTS", "TRADE_IN_MEDICINES", "REAL_ESTATE", "CONSTRUCTION_REPAIR", "CONSULTANCY_LEGAL", "FREELANCE", "NON_PROFIT_LEGAL_ENTITIES", "CRYPTOCURRENCIES", "GAMING", "GAMBLING", "EU_FUNDS_UTILIZATION", "ADULT", "HIGH_VALUE_ASSET_DEALER", "BANKING_LENDING", "INSURANCE_SECURITY", "TRANSPORTATION_AND_LOGISTICS", "MANUFACTURING", "UTILITIES_AND_INFRASTRUCTURE", "TRADE_IN_FOOD_PRODUCT", "WHOLESALE", "REPAIR_OF_MOTOR_VEHICLES", "SOCIAL_WORK_ACTIVITIES", "AUTO_AVIATION", "COURIER_POST_SERVICES", "AGRICULTURE_FORESTRY_AND_FISHING", "OTHER_TRADE_AND_SALES", "TRAVEL_TOURISM", "INFORMATION_AND_COMMUNICATION", "PR_MARKETING", "EDUCATION", "INFORMATIONAL_TECHNOLOGIES", "PUBLIC_AND_DEFENCE_SECTOR", "HEALTH_CARE_MEDICAL_SERVICES", "ART_ENTERTAINMENT_SPORT", "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES", "HOSPITALITY_AND_LEISURE", "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES", "OTHER"]
    source_of_funds: Literal["COMPENSATION_PAYOUT", "COMPANY_PROFITS", "COMPANY_SALE", "DIVIDEND_PAYMENTS", "DIVORCE_SETTLEMENT", "FIXED_DEPOSITS", "GIFT", "INHERITANCE", "INSURANCE_PAYOUT", "LOAN", "LOTTERY_OR_GAMBLING_WIN", "RETIREMENT_INCOME", "SALE_OF_INVESTMENT", "SALE_OF_PROPERTY", "SAVINGS_FROM_SALARY", "OTHER"]
    other_source_of_funds: NotRequired[str]
    # ISO 3166-1 numeric.
    funds_origin_country_id: NotRequired[int]
    tax_identification_number: NotRequired[str]
    # The client's newest KYC application.
    kyc_application_id: NotRequired[str]
    # Its link, a secret, while the applicant can go on with it.
    kyc_link: NotRequired[str]
    created_at: str
    updated_at: str


class CreateOnboardingDetailsBody(TypedDict):
    # The same under both names.
    account_purposes: list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]
    # The same under both names.
    account_purposes_input: NotRequired[list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]]
    expected_monthly_incoming_volume: Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]
    expected_monthly_outgoing_volume: Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]
    is_us_person: bool
    occupation: Literal["BUSINESS_OWNER", "CLERGY", "CRAFTSMAN", "ENGINEER", "EXECUTIVE", "FARMER", "FREELANCE", "LIBERAL_PROFESSION", "POLITICIAN", "PROFESSOR", "PUBLIC_SERVANT", "RETIRED", "SHOPKEEPER", "STUDENT", "UNEMPLOYED", "WORKER", "OTHER"]
    occupation_sector: Literal["ACCOUNTING_AUDIT", "E_MONEY_SERVICES", "CURRENCY_EXCHANGE", "TRADES_ON_OTC_MARKET", "PRECIOUS_METALS_OR_STONES", "PAWNSHOPS", "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS", "MINING_EXTRACTIVE_INDUSTRIES", "ENERGY", "TRADE_IN_PETROL_PRODUCTS", "TRADE_IN_MEDICINES", "REAL_ESTATE", "CONSTRUCTION_REPAIR", "CONSULTANCY_LEGAL", "FREELANCE", "NON_PROFIT_LEGAL_ENTITIES", "CRYPTOCURRENCIES", "GAMING", "GAMBLING", "EU_FUNDS_UTILIZATION", "ADULT", "HIGH_VALUE_ASSET_DEALER", "BANKING_LENDING", "INSURANCE_SECURITY", "TRANSPORTATION_AND_LOGISTICS", "MANUFACTURING", "UTILITIES_AND_INFRASTRUCTURE", "TRADE_IN_FOOD_PRODUCT", "WHOLESALE", "REPAIR_OF_MOTOR_VEHICLES", "SOCIAL_WORK_ACTIVITIES", "AUTO_AVIATION", "COURIER_POST_SERVICES", "AGRICULTURE_FORESTRY_AND_FISHING", "OTHER_TRADE_AND_SALES", "TRAVEL_TOURISM", "INFORMATION_AND_COMMUNICATION", "PR_MARKETING", "EDUCATION", "INFORMATIONAL_TECHNOLOGIES", "PUBLIC_AND_DEFENCE_SECTOR", "HEALTH_CARE_MEDICAL_SERVICES", "ART_ENTERTAINMENT_SPORT", "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES", "HOSPITALITY_AND_LEISURE", "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES", "OTHER"]
    source_of_funds: Literal["COMPENSATION_PAYOUT", "COMPANY_PROFITS", "COMPANY_SALE", "DIVIDEND_PAYMENTS", "DIVORCE_SETTLEMENT", "FIXED_DEPOSITS", "GIFT", "INHERITANCE", "INSURANCE_PAYOUT", "LOAN", "LOTTERY_OR_GAMBLING_WIN", "RETIREMENT_INCOME", "SALE_OF_INVESTMENT", "SALE_OF_PROPERTY", "SAVINGS_FROM_SALARY", "OTHER"]
    # Needed when occupation is OTHER.
    other_occupation: NotRequired[str]
    # Needed when source_of_funds is OTHER.
    other_source_of_funds: NotRequired[str]
    funds_origin_country_id: NotRequired[Literal[4, 248, 8, 12, 16, 20, 24, 660, 10, 28, 32, 51, 533, 36, 40, 31, 44, 48, 50, 52, 112, 56, 84, 204, 60, 64, 68, 535, 70, 72, 74, 76, 86, 96, 100, 854, 108, 132, 116, 120, 124, 136, 140, 148, 152, 156, 162, 166, 170, 174, 178, 180, 184, 188, 384, 191, 192, 531, 196, 203, 208, 262, 212, 214, 218, 818, 222, 226, 232, 233, 748, 231, 238, 234, 242, 246, 250, 254, 258, 260, 266, 270, 268, 276, 288, 292, 300, 304, 308, 312, 316, 320, 831, 324, 624, 328, 332, 334, 336, 340, 344, 348, 352, 356, 360, 364, 368, 372, 833, 376, 380, 388, 392, 832, 400, 398, 404, 296, 408, 410, 414, 417, 418, 428, 422, 426, 430, 434, 438, 440, 442, 446, 450, 454, 458, 462, 466, 470, 584, 474, 478, 480, 175, 484, 583, 498, 492, 496, 499, 500, 504, 508, 104, 516, 520, 524, 528, 540, 554, 558, 562, 566, 570, 574, 807, 580, 578, 512, 586, 585, 275, 591, 598, 600, 604, 608, 612, 616, 620, 630, 634, 638, 642, 643, 646, 652, 654, 659, 662, 663, 666, 670, 882, 674, 678, 682, 686, 688, 690, 694, 702, 534, 703, 705, 90, 706, 710, 239, 728, 724, 144, 729, 740, 744, 752, 756, 760, 158, 762, 834, 764, 626, 768, 772, 776, 780, 788, 792, 795, 796, 798, 800, 804, 784, 826, 840, 581, 858, 860, 548, 862, 704, 92, 850, 876, 732, 887, 894, 716]]
    tax_identification_number: NotRequired[str]


class UpdateOnboardingDetailsBody(TypedDict):
    # The same under both names.
    account_purposes: NotRequired[list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]]
    # The same under both names.
    account_purposes_input: NotRequired[list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]]
    expected_monthly_incoming_volume: NotRequired[Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]]
    expected_monthly_outgoing_volume: NotRequired[Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]]
    is_us_person: NotRequired[bool]
    occupation: NotRequired[Literal["BUSINESS_OWNER", "CLERGY", "CRAFTSMAN", "ENGINEER", "EXECUTIVE", "FARMER", "FREELANCE", "LIBERAL_PROFESSION", "POLITICIAN", "PROFESSOR", "PUBLIC_SERVANT", "RETIRED", "SHOPKEEPER", "STUDENT", "UNEMPLOYED", "WORKER", "OTHER"]]
    occupation_sector: NotRequired[Literal["ACCOUNTING_AUDIT", "E_MONEY_SERVICES", "CURRENCY_EXCHANGE", "TRADES_ON_OTC_MARKET", "PRECIOUS_METALS_OR_STONES", "PAWNSHOPS", "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS", "MINING_EXTRACTIVE_INDUSTRIES", "ENERGY", "TRADE_IN_PETROL_PRODUCTS", "TRADE_IN_MEDICINES", "REAL_ESTATE", "CONSTRUCTION_REPAIR", "CONSULTANCY_LEGAL", "FREELANCE", "NON_PROFIT_LEGAL_ENTITIES", "CRYPTOCURRENCIES", "GAMING", "GAMBLING", "EU_FUNDS_UTILIZATION", "ADULT", "HIGH_VALUE_ASSET_DEALER", "BANKING_LENDING", "INSURANCE_SECURITY", "TRANSPORTATION_AND_LOGISTICS", "MANUFACTURING", "UTILITIES_AND_INFRASTRUCTURE", "TRADE_IN_FOOD_PRODUCT", "WHOLESALE", "REPAIR_OF_MOTOR_VEHICLES", "SOCIAL_WORK_ACTIVITIES", "AUTO_AVIATION", "COURIER_POST_SERVICES", "AGRICULTURE_FORESTRY_AND_FISHING", "OTHER_TRADE_AND_SALES", "TRAVEL_TOURISM", "INFORMATION_AND_COMMUNICATION", "PR_MARKETING", "EDUCATION", "INFORMATIONAL_TECHNOLOGIES", "PUBLIC_AND_DEFENCE_SECTOR", "HEALTH_CARE_MEDICAL_SERVICES", "ART_ENTERTAINMENT_SPORT", "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES", "HOSPITALITY_AND_LEISURE", "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES", "OTHER"]]
    source_of_funds: NotRequired[Literal["COMPENSATION_PAYOUT", "COMPANY_PROFITS", "COMPANY_SALE", "DIVIDEND_PAYMENTS", "DIVORCE_SETTLEMENT", "FIXED_DEPOSITS", "GIFT", "INHERITANCE", "INSURANCE_PAYOUT", "LOAN", "LOTTERY_OR_GAMBLING_WIN", "RETIREMENT_INCOME", "SALE_OF_INVESTMENT", "SALE_OF_PROPERTY", "SAVINGS_FROM_SALARY", "OTHER"]]
    other_occupation: NotRequired[str | None]
    other_source_of_funds: NotRequired[str | None]
    funds_origin_country_id: NotRequired[Literal[4, 248, 8, 12, 16, 20, 24, 660, 10, 28, 32, 51, 533, 36, 40, 31, 44, 48, 50, 52, 112, 56, 84, 204, 60, 64, 68, 535, 70, 72, 74, 76, 86, 96, 100, 854, 108, 132, 116, 120, 124, 136, 140, 148, 152, 156, 162, 166, 170, 174, 178, 180, 184, 188, 384, 191, 192, 531, 196, 203, 208, 262, 212, 214, 218, 818, 222, 226, 232, 233, 748, 231, 238, 234, 242, 246, 250, 254, 258, 260, 266, 270, 268, 276, 288, 292, 300, 304, 308, 312, 316, 320, 831, 324, 624, 328, 332, 334, 336, 340, 344, 348, 352, 356, 360, 364, 368, 372, 833, 376, 380, 388, 392, 832, 400, 398, 404, 296, 408, 410, 414, 417, 418, 428, 422, 426, 430, 434, 438, 440, 442, 446, 450, 454, 458, 462, 466, 470, 584, 474, 478, 480, 175, 484, 583, 498, 492, 496, 499, 500, 504, 508, 104, 516, 520, 524, 528, 540, 554, 558, 562, 566, 570, 574, 807, 580, 578, 512, 586, 585, 275, 591, 598, 600, 604, 608, 612, 616, 620, 630, 634, 638, 642, 643, 646, 652, 654, 659, 662, 663, 666, 670, 882, 674, 678, 682, 686, 688, 690, 694, 702, 534, 703, 705, 90, 706, 710, 239, 728, 724, 144, 729, 740, 744, 752, 756, 760, 158, 762, 834, 764, 626, 768, 772, 776, 780, 788, 792, 795, 796, 798, 800, 804, 784, 826, 840, 581, 858, 860, 548, 862, 704, 92, 850, 876, 732, 887, 894, 716] | None]
    tax_identification_number: NotRequired[str | None]


class OnboardingStatus(TypedDict):
    id: str
    client_id: str
    current_step: Literal["DETAILS_PENDING", "KYC_PENDING", "KYC_PROCESSING", "KYC_UNDER_REVIEW", "KYC_DECLINED", "PENDING_APPROVAL", "APPROVED"]
    kyc_status: Literal["NOT_STARTED", "CREATED", "PROCESSING", "ABORTED", "PENDING_REVIEW", "VALIDATED", "DECLINED"]
    overall_status: Literal["IN_PROGRESS", "UNDER_REVIEW", "DECLINED", "APPROVED"]
    # The client's newest KYC application.
    kyc_application_id: NotRequired[str]
    # Its link, a secret, while the applicant can go on with it.
    kyc_link: NotRequired[str]
    created_at: str
    updated_at: str


class Payment(TypedDict):
    id: str
    business_id: str
    amount: str
    currency: str
    status: Literal["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"]
    language: str
    success_url: str
    fail_url: str
    processor_order_number: str
    created_at: str
    updated_at: str
    paid_at: NotRequired[str]
    action_code: NotRequired[str]
    action_code_description: NotRequired[str]
    approval_code: NotRequired[str]
    card_brand: NotRequired[str]
    description: NotRequired[str]
    form_url: NotRequired[str]
    masked_pan: NotRequired[str]
    order_ref: NotRequired[str]
    resp_code: NotRequired[str]
    resp_code_desc: NotRequired[str]
    processor_error_code: NotRequired[str]
    processor_order_id: NotRequired[str]
    processor_order_status: NotRequired[int]
    refunded_amount: NotRequired[str]
    # PROCESSOR: given back or reversed there, not through this API.
    origin: NotRequired[str]


class CreatePaymentBody(TypedDict):
    # In DZD, at least 50.00 and at most 999999999999.99.
    amount: str
    # An absolute https URL without credentials. Letters beyond ASCII need no encoding. Kept as it was sent.
    success_url: str
    # An absolute https URL without credentials. Letters beyond ASCII need no encoding. Kept as it was sent.
    fail_url: str
    # At most 20 UTF-16 units; most emoji are two.
    order_ref: NotRequired[str]
    # At most 512 UTF-16 units; most emoji are two.
    description: NotRequired[str]
    # Upper and lower case are the same here: any case is accepted.
    language: NotRequired[Literal["AR", "FR", "EN"]]
    currency: NotRequired[Literal["DZD"]]


class ListPaymentsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    status: NotRequired[Literal["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"]]
    # At most 20 UTF-16 units; most emoji are two.
    order_ref: NotRequired[str]
    payment_link_id: NotRequired[str]
    # Created at this time or later.
    created_from: NotRequired[str]
    # Created before this time, which is itself left out.
    created_to: NotRequired[str]


class RefundPaymentBody(TypedDict):
    # In DZD, at most what was paid.
    amount: NotRequired[str]


class CreateWebhookEndpointResult(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types it receives, written out also when it has the default: all but the opt-in ones.
    events: list[str]
    created_at: str
    # The signing secret, only in the answer that makes it.
    secret: NotRequired[str]


class CreateWebhookEndpointBody(TypedDict):
    # Absolute, https, public, at most 2048 characters, without credentials and without a fragment. A development system also takes http and this machine's own addresses.
    url: str
    # Event types it is to receive. Empty means the default: all but the opt-in ones.
    events: NotRequired[list[Literal["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED", "KYC_FAILED", "KYC_EXPIRED", "KYC_CANCELED", "KYC_DOCUMENT_EXPIRING", "KYC_DOCUMENT_EXPIRED", "PAYMENT_COMPLETED", "PAYMENT_REFUSED", "PAYMENT_FAILED", "PAYMENT_CANCELED", "PAYMENT_EXPIRED", "PAYMENT_REFUNDED", "WEBHOOK_ENDPOINT_DISABLED"]]]


class ListWebhookEndpointsItem(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types it receives, written out also when it has the default: all but the opt-in ones.
    events: list[str]
    created_at: str
    updated_at: str


class WebhookEndpoint(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types it receives, written out also when it has the default: all but the opt-in ones.
    events: list[str]
    created_at: str
    updated_at: str
    # How deliveries to it went. Attempts count after a few seconds, and the edges of hour and day are five minutes wide.
    health: NotRequired[WebhookEndpointHealth]


class WebhookEndpointHealth(TypedDict):
    # Since when every attempt has failed; five days of it disable the endpoint.
    failing_since: NotRequired[str]
    # The part of the last hour's attempts that succeeded; absent without any.
    success_rate_1h: NotRequired[float]
    # The part of the last day's attempts that succeeded; absent without any.
    success_rate_24h: NotRequired[float]
    # Of the newest attempt that failed within a day: the code of its `error`, or `http_` and the status.
    last_error: NotRequired[str]
    # 95 of 100 attempts of the last day took no longer, estimated to a fifth, in milliseconds.
    p95_ms_24h: NotRequired[int]


class UpdateWebhookEndpointResult(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types it receives, written out also when it has the default: all but the opt-in ones.
    events: list[str]
    updated_at: str
    # The signing secret, only in the answer that makes it.
    secret: NotRequired[str]


class UpdateWebhookEndpointBody(TypedDict):
    # Absolute, https, public, at most 2048 characters, without credentials and without a fragment. A development system also takes http and this machine's own addresses.
    url: NotRequired[str]
    rotate_secret: NotRequired[bool]
    activate_in_seconds: NotRequired[int]
    status: NotRequired[Literal["ACTIVE", "DISABLED"]]
    events: NotRequired[list[Literal["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED", "KYC_FAILED", "KYC_EXPIRED", "KYC_CANCELED", "KYC_DOCUMENT_EXPIRING", "KYC_DOCUMENT_EXPIRED", "PAYMENT_COMPLETED", "PAYMENT_REFUSED", "PAYMENT_FAILED", "PAYMENT_CANCELED", "PAYMENT_EXPIRED", "PAYMENT_REFUNDED", "WEBHOOK_ENDPOINT_DISABLED"]] | None]


class TestWebhookEndpointResult(TypedDict):
    id: str
    type: str
    created_at: str
    # What every delivery of the event carries, byte for byte as it was signed.
    body: dict[str, Any]
    delivery: Delivery


class Delivery(TypedDict):
    id: str
    endpoint_id: str
    status: Literal["pending", "succeeded", "failed", "skipped"]
    next_attempt_at: NotRequired[str]
    attempts: list[DeliveryAttempts]


class DeliveryAttempts(TypedDict):
    at: str
    status_code: NotRequired[int]
    # Why no answer came; absent when a status came, and for attempts made before there were codes.
    error: NotRequired[Literal["timeout", "dns_error", "connection_refused", "connection_reset", "tls_error", "address_forbidden", "invalid_response", "secret_unreadable"]]
    # The same in words.
    detail: NotRequired[str]
    duration_ms: int
    # The first KiB of the answer.
    response: NotRequired[str]


class CheckWebhookEndpointResult(TypedDict):
    checks: list[CheckWebhookEndpointResultChecks]


class CheckWebhookEndpointResultChecks(TypedDict):
    name: Literal["good", "forged_signature", "duplicate", "old_timestamp"]
    passed: bool
    # What it answered, and what to do about it.
    detail: str


class WebhookReplay(TypedDict):
    id: str
    status: Literal["RUNNING", "DONE"]
    # Deliveries that the filter names; while it is RUNNING they may still be counted.
    matched: int
    # Those of them that were started anew.
    sent: int


class ReplayWebhookEndpointBody(TypedDict):
    # Events are kept for 30 days.
    since: str
    # Exclusive end of the range.
    until: NotRequired[str]
    types: NotRequired[list[Literal["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED", "KYC_FAILED", "KYC_EXPIRED", "KYC_CANCELED", "KYC_DOCUMENT_EXPIRING", "KYC_DOCUMENT_EXPIRED", "PAYMENT_COMPLETED", "PAYMENT_REFUSED", "PAYMENT_FAILED", "PAYMENT_CANCELED", "PAYMENT_EXPIRED", "PAYMENT_REFUNDED", "WEBHOOK_ENDPOINT_DISABLED", "WEBHOOK_TEST"]]]
    # pending: those that wait for a later attempt, which comes now.
    statuses: NotRequired[list[Literal["pending", "succeeded", "failed", "skipped"]]]


class Event(TypedDict):
    id: str
    type: str
    created_at: str
    # What every delivery of the event carries, byte for byte as it was signed.
    body: dict[str, Any]


ListEventsQuery = TypedDict(
    "ListEventsQuery",
    {
        "limit": "int",
        "offset": "int",
        "type": "Literal[\"KYC_COMPLETED\", \"KYC_REJECTED\", \"KYC_NEEDS_REVIEW\", \"KYC_REVIEW_RESOLVED\", \"KYC_FAILED\", \"KYC_EXPIRED\", \"KYC_CANCELED\", \"KYC_DOCUMENT_EXPIRING\", \"KYC_DOCUMENT_EXPIRED\", \"PAYMENT_COMPLETED\", \"PAYMENT_REFUSED\", \"PAYMENT_FAILED\", \"PAYMENT_CANCELED\", \"PAYMENT_EXPIRED\", \"PAYMENT_REFUNDED\", \"WEBHOOK_ENDPOINT_DISABLED\", \"WEBHOOK_TEST\"]",
        "from": "str",
        "to": "str",
    },
    total=False,
)


class RedeliverEventBody(TypedDict):
    endpoint_id: NotRequired[str]


class Business(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    created_at: str
    updated_at: str
    # Assigned by the platform, one for each business.
    organization_id: int
    # Of a business that registered itself.
    contact_email: NotRequired[str]
    # The plaintext key, only in the answer that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the newest live key.
    api_key_prefix: NotRequired[str]


class CreateBusinessBody(TypedDict):
    name: str
    status: NotRequired[Literal["ACTIVE", "PENDING"]]


class ListBusinessesQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    status: NotRequired[Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]]
    # Any part of the name, in any case.
    search: NotRequired[str]


class UpdateBusinessBody(TypedDict):
    name: NotRequired[str]
    status: NotRequired[Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]]
    rotate_api_key: NotRequired[bool]


class ReviewKycApplicationResult(TypedDict):
    id: str
    created_at: str
    link_expires_at: str
    status: Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]
    # When the verification provider was last heard of about it.
    synced_at: str
    aml_hit_count: int
    reason_codes: list[KycApplicationReasonCodes]
    attempts_used: int
    attempts_remaining: int
    client_id: NotRequired[str]
    external_id: NotRequired[str]
    verdict: NotRequired[Literal["APPROVED", "NEEDS_REVIEW", "REJECTED"]]
    completed_at: NotRequired[str]
    decision_summary: NotRequired[str]
    document_type: NotRequired[Literal["id_card", "passport"]]
    document_expiry: NotRequired[str]
    nationality: NotRequired[str]
    liveness_outcome: NotRequired[str]
    face_match_outcome: NotRequired[str]
    aml_decision: NotRequired[str]
    error_message: NotRequired[str]
    # As it was sent: key order, escapes and numbers.
    metadata: dict[str, Any]


class ReviewKycApplicationBody(TypedDict):
    outcome: Literal["APPROVED", "REJECTED"]
    # Why; kept in the audit trail.
    note: str


class ApproveOnboardingBody(TypedDict):
    # Why; kept in the audit trail.
    reason: NotRequired[str]


class CreateApiKeyResult(TypedDict):
    id: str
    business_id: str
    name: str
    # The plaintext key, only in the answer that issues it.
    api_key: NotRequired[str]
    api_key_prefix: str
    created_at: str
    expires_at: NotRequired[str]
    # The only networks the key may be used from, in canonical form. Absent: from anywhere.
    allowed_ips: NotRequired[list[str]]


class CreateApiKeyBody(TypedDict):
    business_id: str
    name: str
    # In the future. Absent: the key has no end.
    expires_at: NotRequired[str]
    # CIDRs, of IPv4 or IPv6: calls from elsewhere are refused with 403. Absent: from anywhere.
    allowed_ips: NotRequired[list[str]]


class ApiKey(TypedDict):
    id: str
    business_id: str
    name: str
    api_key_prefix: str
    created_at: str
    last_used_at: NotRequired[str]
    expires_at: NotRequired[str]
    # The only networks the key may be used from, in canonical form. Absent: from anywhere.
    allowed_ips: NotRequired[list[str]]
    revoked_at: NotRequired[str]


class ListApiKeysQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    business_id: NotRequired[str]


class RevokeApiKeyResult(TypedDict):
    id: str
    business_id: str
    name: str
    api_key_prefix: str
    revoked_at: NotRequired[str]


class CreateOperatorKeyResult(TypedDict):
    id: str
    name: str
    # The plaintext key, only in the answer that issues it.
    admin_key: NotRequired[str]
    admin_key_prefix: str
    created_at: str


class CreateOperatorKeyBody(TypedDict):
    name: str


class OperatorKey(TypedDict):
    id: str
    name: str
    admin_key_prefix: str
    created_at: str
    # To the minute.
    last_used_at: NotRequired[str]
    revoked_at: NotRequired[str]


class CreateInvitationResult(TypedDict):
    id: str
    name: str
    # The plaintext token, only in the answer that issues it.
    invitation_token: NotRequired[str]
    token_prefix: str
    created_at: str
    expires_at: str


class CreateInvitationBody(TypedDict):
    # Whom it is for.
    name: str
    # At most 30 days ahead; 7 days when it is left out.
    expires_at: NotRequired[str]


class Invitation(TypedDict):
    id: str
    name: str
    token_prefix: str
    created_at: str
    expires_at: str
    used_at: NotRequired[str]
    # The business that was registered with it.
    business_id: NotRequired[str]
    revoked_at: NotRequired[str]


class Refund(TypedDict):
    id: str
    business_id: str
    payment_id: str
    amount: str
    currency: str
    status: Literal["REQUESTED", "SENT", "ACCEPTED", "REJECTED", "UNKNOWN", "NOT_SENT"]
    needs_decision: bool
    # OUTCOME_UNKNOWN: nothing told it in a day. UNEXPLAINED: what the processor says fits no rule.
    decision_reason: NotRequired[str]
    needs_decision_since: NotRequired[str]
    # What an operator decided last.
    resolution: NotRequired[Literal["ACCEPTED", "REJECTED", "SEND_AGAIN"]]
    # How often it was sent.
    sends: int
    last_sent_at: NotRequired[str]
    processor_error_code: NotRequired[str]
    payment_status: str
    payment_amount: str
    payment_refunded_amount: NotRequired[str]
    # What the card processor said when the order was last read.
    processor: RefundProcessor
    created_at: str
    updated_at: str


class RefundProcessor(TypedDict):
    order_id: NotRequired[str]
    order_number: str
    order_status: NotRequired[int]
    refunded_amount: NotRequired[str]
    read_at: NotRequired[str]


class ListRefundsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    needs_decision: NotRequired[bool]


class ResolveRefundBody(TypedDict):
    outcome: Literal["ACCEPTED", "REJECTED", "SEND_AGAIN"]
    # Why; kept in the audit trail.
    note: str


class PaymentTimeline(TypedDict):
    payment: Payment
    # Oldest first; within a millisecond, causes before what they brought about. Calls, events and attempts of the last 30 days.
    entries: list[PaymentTimelineEntries]
    # What could not be read just now: `events`, with the attempts to deliver them. Absent when all is here.
    missing: NotRequired[list[Literal["events"]]]
    # What there is more of than is here: of more than 200 calls the first 50 and the newest 150; 20 events, and the newest 50 attempts of a delivery. Absent when nothing was left out.
    truncated: NotRequired[list[Literal["processor_calls", "events"]]]


class PaymentTimelineEntries(TypedDict):
    # When it happened or began; of next_attempt, when it will.
    at: str
    kind: Literal["payment", "processor_call", "refund", "event", "delivery_attempt", "next_attempt"]
    # The status that a payment or refund came to, the operation of a call, or the type of an event.
    name: str
    # Of a call: ACCEPTED, REFUSED, UNKNOWN or NOT_SENT. Of an attempt: the status that came, or why none did.
    outcome: NotRequired[str]
    detail: NotRequired[str]
    duration_ms: NotRequired[int]
    refund_id: NotRequired[str]
    event_id: NotRequired[str]
    endpoint_id: NotRequired[str]


class ListChangedPaymentsItem(TypedDict):
    id: str
    business_id: str
    amount: str
    currency: str
    status: Literal["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"]
    language: str
    success_url: str
    fail_url: str
    processor_order_number: str
    created_at: str
    updated_at: str
    paid_at: NotRequired[str]
    action_code: NotRequired[str]
    action_code_description: NotRequired[str]
    approval_code: NotRequired[str]
    card_brand: NotRequired[str]
    description: NotRequired[str]
    form_url: NotRequired[str]
    masked_pan: NotRequired[str]
    order_ref: NotRequired[str]
    resp_code: NotRequired[str]
    resp_code_desc: NotRequired[str]
    processor_error_code: NotRequired[str]
    processor_order_id: NotRequired[str]
    processor_order_status: NotRequired[int]
    refunded_amount: NotRequired[str]
    # PROCESSOR: given back or reversed there, not through this API.
    origin: NotRequired[str]
    # What the processor says and no rule explains; nothing was changed for it. A person has to look.
    difference: NotRequired[str]
    # What the card processor said when the order was last read.
    processor: RefundProcessor


class ListChangedPaymentsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    origin: NotRequired[Literal["PROCESSOR"]]


class AuditEvent(TypedDict):
    id: str
    at: str
    # The first 16 characters of the key; "platform", which acts by itself; or "command:" and the name of who used the command `amana`.
    actor: str
    actor_key_id: NotRequired[str]
    # What that key was called.
    actor_name: NotRequired[str]
    action: str
    entity: AuditEventEntity
    business_id: NotRequired[str]
    # What it was, without secrets; absent when it was not there.
    before: NotRequired[dict[str, Any]]
    # What it became.
    after: NotRequired[dict[str, Any]]
    reason: NotRequired[str]
    request_id: str
    # Where the request came from.
    address: str


class AuditEventEntity(TypedDict):
    type: str
    id: str


ListAuditEventsQuery = TypedDict(
    "ListAuditEventsQuery",
    {
        "limit": "int",
        "offset": "int",
        "business_id": "str",
        "action": "str",
        "entity_id": "str",
        "from": "str",
        "to": "str",
    },
    total=False,
)


class ListDeadLettersItem(TypedDict):
    id: str
    # The consuming service.
    service: str
    topic: str
    # The id by which businesses know the event.
    event_id: str
    event_type: str
    # Id of what the event is about.
    key: str
    # RETRYING: retried by itself. WAITING: for a version that knows its type. PARKED: failed to the end of the schedule; an operator decides. FORGED: rejected by an earlier version, now only logged. DELIVERED and DROPPED are the end.
    status: Literal["RETRYING", "WAITING", "PARKED", "FORGED", "DELIVERED", "DROPPED"]
    # Why the last attempt failed.
    reason: str
    attempts: int
    next_attempt_at: NotRequired[str]
    headers: dict[str, Any]
    payload_bytes: int
    created_at: str
    updated_at: str


class ListDeadLettersQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    service: NotRequired[Literal["webhooks", "clients", "identity"]]
    topic: NotRequired[str]
    status: NotRequired[Literal["RETRYING", "WAITING", "PARKED", "FORGED", "DELIVERED", "DROPPED"]]


class DeadLetter(TypedDict):
    id: str
    # The consuming service.
    service: str
    topic: str
    # The id by which businesses know the event.
    event_id: str
    event_type: str
    # Id of what the event is about.
    key: str
    # RETRYING: retried by itself. WAITING: for a version that knows its type. PARKED: failed to the end of the schedule; an operator decides. FORGED: rejected by an earlier version, now only logged. DELIVERED and DROPPED are the end.
    status: Literal["RETRYING", "WAITING", "PARKED", "FORGED", "DELIVERED", "DROPPED"]
    # Why the last attempt failed.
    reason: str
    attempts: int
    next_attempt_at: NotRequired[str]
    headers: dict[str, Any]
    payload_bytes: int
    # The event with ids, enumerations and numbers; of other texts only the length. Only when read by its id.
    payload: NotRequired[dict[str, Any]]
    created_at: str
    updated_at: str


class DropDeadLetterBody(TypedDict):
    # Why; kept in the audit trail.
    note: str

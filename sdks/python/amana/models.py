# Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Payment(TypedDict):
    id: str
    business_id: str
    # Amount of the payment, in the currency.
    amount: str
    # Currency (ISO 4217).
    currency: str
    status: Literal["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"]
    language: str
    success_url: str
    fail_url: str
    # Order number at the card processor.
    processor_order_number: str
    created_at: str
    updated_at: str
    paid_at: NotRequired[str]
    action_code: NotRequired[str]
    action_code_description: NotRequired[str]
    approval_code: NotRequired[str]
    card_brand: NotRequired[str]
    description: NotRequired[str]
    # Page with the card form, for the browser of the card holder.
    form_url: NotRequired[str]
    # Masked card number.
    masked_pan: NotRequired[str]
    # Your own identifier of the order.
    order_ref: NotRequired[str]
    resp_code: NotRequired[str]
    resp_code_desc: NotRequired[str]
    processor_error_code: NotRequired[str]
    processor_order_id: NotRequired[str]
    processor_order_status: NotRequired[int]
    # Refunded amount, in the currency.
    refunded_amount: NotRequired[str]
    # PROCESSOR when the payment was refunded or reversed at the card processor without Amana.
    origin: NotRequired[str]


class CreatePaymentBody(TypedDict):
    # Amount in DZD, from 50.00 to 999999999999.99, with at most two decimals.
    amount: str
    # Page for the card holder after a successful payment. An absolute https URL of at most 2048 characters, without credentials. Non-ASCII characters need no encoding. The URL is stored unchanged.
    success_url: str
    # Page for the card holder after any other outcome. An absolute https URL of at most 2048 characters, without credentials. Non-ASCII characters need no encoding. The URL is stored unchanged.
    fail_url: str
    # Your own identifier of the order. At most 20 UTF-16 code units; most emoji count as two.
    order_ref: NotRequired[str]
    # Description of the payment for the card holder. At most 512 UTF-16 code units; most emoji count as two.
    description: NotRequired[str]
    # Language of the card form, FR by default. Upper and lower case are accepted.
    language: NotRequired[Literal["AR", "FR", "EN"]]
    # Currency (ISO 4217).
    currency: NotRequired[Literal["DZD"]]


class ListPaymentsQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    status: NotRequired[Literal["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"]]
    # Your own identifier of the order. At most 20 UTF-16 code units; most emoji count as two.
    order_ref: NotRequired[str]
    # Id of a payment link. Payment links are not supported, so no payment matches.
    payment_link_id: NotRequired[str]
    # Start of the range of creation times, inclusive.
    created_from: NotRequired[str]
    # End of the range of creation times, exclusive.
    created_to: NotRequired[str]


class RefundPaymentBody(TypedDict):
    # Amount of the refund in DZD, greater than zero and at most the paid amount; the paid amount by default.
    amount: NotRequired[str]


class CreateKycApplicationResult(TypedDict):
    id: str
    created_at: str
    # Verification link for the applicant. Treat it as a secret: it allows the submission of documents.
    link_url: str
    link_expires_at: str
    status: Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]
    client_id: NotRequired[str]
    external_id: NotRequired[str]


class CreateKycApplicationBody(TypedDict):
    # Accepted identity documents; both by default.
    allowed_documents: NotRequired[list[Literal["id_card", "passport"]]]
    # E-mail address of the applicant.
    applicant_email: NotRequired[str]
    # Phone number of the applicant (E.164).
    applicant_phone: NotRequired[str]
    # Client whose identity is verified.
    client_id: NotRequired[str]
    # Your own identifier of the applicant; included in each webhook.
    external_id: NotRequired[str]
    # Language of the verification pages, fr by default. Upper and lower case are accepted.
    locale: NotRequired[Literal["fr", "ar", "en"]]
    # Maximum number of submissions on the link; 3 by default.
    max_attempts: NotRequired[int]
    # Your own data, returned unchanged. At most 16 KiB and 8 levels deep.
    metadata: NotRequired[dict[str, Any]]
    # Data of the applicant, which the provider compares with the document. It is not stored, logged or returned. At most 16 KiB and 8 levels deep.
    profile: NotRequired[dict[str, Any]]
    # Page to which the applicant returns after the verification. An absolute https URL of at most 2048 characters, without credentials. Non-ASCII characters need no encoding. The URL is stored unchanged.
    redirect_url: NotRequired[str]
    # Whether the applicant must record a video.
    require_video: NotRequired[bool]
    # Lifetime of the link in hours; by default that of the provider.
    ttl_hours: NotRequired[int]


class KycApplication(TypedDict):
    id: str
    created_at: str
    # Verification link for the applicant. Treat it as a secret: it allows the submission of documents. Absent from 30 days after the end of the application, when the link no longer works.
    link_url: NotRequired[str]
    link_expires_at: str
    status: Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]
    # Time at which the state was last received from the verification provider.
    synced_at: str
    # Number of hits in anti-money-laundering lists.
    aml_hit_count: int
    reason_codes: list[KycApplicationReasonCodes]
    # Number of submissions.
    attempts_used: int
    # Number of submissions that are still possible.
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
    # Your own data, unchanged, including the order of keys.
    metadata: dict[str, Any]


class KycApplicationReasonCodes(TypedDict):
    code: str
    message: NotRequired[str]


class ListKycApplicationsQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    status: NotRequired[Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]]
    verdict: NotRequired[Literal["APPROVED", "NEEDS_REVIEW", "REJECTED"]]
    # Client whose identity is verified.
    client_id: NotRequired[str]
    # Your own identifier of the applicant.
    external_id: NotRequired[str]
    # Start of the range of creation times, inclusive.
    created_from: NotRequired[str]
    # End of the range of creation times, exclusive.
    created_to: NotRequired[str]


class Client(TypedDict):
    id: str
    # Number of the business, assigned by Amana.
    organization_id: int
    first_name: str
    middle_name: NotRequired[str]
    last_name: str
    date_of_birth: str
    gender: Literal["male", "female"]
    # Country code (ISO 3166-1 alpha-3).
    birth_country: str
    # Country code (ISO 3166-1 alpha-3).
    nationality: str
    # Country code (ISO 3166-1 alpha-3).
    country_of_tax_residence: str
    address: str
    city: str
    postcode: str
    state_province: NotRequired[str]
    # Country code (ISO 3166-1 alpha-3).
    country_code: str
    email: str
    second_email: NotRequired[str]
    mobile_phone_number: NotRequired[str]
    second_mobile_phone_number: NotRequired[str]
    planned_income: NotRequired[str]
    planned_expenditure: NotRequired[str]
    # Your own identifier of the client.
    external_client_code: NotRequired[str]
    # Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application.
    blocked: bool
    # Whether the client is on your blacklist. The flag has no effect of its own.
    is_blacklisted: bool
    blacklisted_comment: NotRequired[str]
    risk_level: Literal["Low", "Medium", "High"]
    kyc_level: Literal["FULL_KYC", "DOC_ONLY", "NOT_REQUIRED"]
    # Status of the client's newest KYC application.
    kyc_status: Literal["NOT_STARTED", "CREATED", "PROCESSING", "ABORTED", "PENDING_REVIEW", "VALIDATED", "DECLINED"]
    kyc_note: NotRequired[str]
    created_at: str
    updated_at: str


class CreatePersonBody(TypedDict):
    # First name as in the identity document.
    first_name: str
    middle_name: NotRequired[str]
    # Last name as in the identity document.
    last_name: str
    # Date of birth.
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
    # Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application.
    blocked: NotRequired[bool]
    # Whether the client is on your blacklist. The flag has no effect of its own.
    is_blacklisted: NotRequired[bool]
    risk_level: NotRequired[Literal["Low", "Medium", "High"]]
    state_province: NotRequired[str]
    second_email: NotRequired[str]
    mobile_phone_number: NotRequired[str]
    second_mobile_phone_number: NotRequired[str]
    planned_income: NotRequired[str]
    planned_expenditure: NotRequired[str]
    # Your own identifier of the client.
    external_client_code: NotRequired[str]
    kyc_note: NotRequired[str]
    blacklisted_comment: NotRequired[str]


class ListClientsQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    # Organization id of your business. With another id the list is empty.
    organization_id: NotRequired[int]
    kyc_status: NotRequired[Literal["NOT_STARTED", "CREATED", "PROCESSING", "ABORTED", "PENDING_REVIEW", "VALIDATED", "DECLINED"]]
    risk_level: NotRequired[Literal["Low", "Medium", "High"]]
    is_blacklisted: NotRequired[bool]
    blocked: NotRequired[bool]
    # Part of the names, the e-mail address or external_client_code, in any case.
    search: NotRequired[str]
    email: NotRequired[str]
    # Your own identifier of the client.
    external_client_code: NotRequired[str]


class UpdatePersonBody(TypedDict):
    address: NotRequired[str]
    city: NotRequired[str]
    postcode: NotRequired[str]
    country_code: NotRequired[Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]]
    email: NotRequired[str]
    # Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application.
    blocked: NotRequired[bool]
    # Whether the client is on your blacklist. The flag has no effect of its own.
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
    # Numeric country code (ISO 3166-1) without leading zeros.
    funds_origin_country_id: NotRequired[int]
    tax_identification_number: NotRequired[str]
    # Newest KYC application of the client.
    kyc_application_id: NotRequired[str]
    # Verification link of that application, while the applicant can use it. Treat it as a secret.
    kyc_link: NotRequired[str]
    created_at: str
    updated_at: str


class CreateOnboardingDetailsBody(TypedDict):
    # Purposes of the account. `account_purposes_input` is an alias of `account_purposes`.
    account_purposes: list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]
    # Purposes of the account. `account_purposes_input` is an alias of `account_purposes`.
    account_purposes_input: NotRequired[list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]]
    expected_monthly_incoming_volume: Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]
    expected_monthly_outgoing_volume: Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]
    # Whether the client is a US person for tax purposes.
    is_us_person: bool
    occupation: Literal["BUSINESS_OWNER", "CLERGY", "CRAFTSMAN", "ENGINEER", "EXECUTIVE", "FARMER", "FREELANCE", "LIBERAL_PROFESSION", "POLITICIAN", "PROFESSOR", "PUBLIC_SERVANT", "RETIRED", "SHOPKEEPER", "STUDENT", "UNEMPLOYED", "WORKER", "OTHER"]
    occupation_sector: Literal["ACCOUNTING_AUDIT", "E_MONEY_SERVICES", "CURRENCY_EXCHANGE", "TRADES_ON_OTC_MARKET", "PRECIOUS_METALS_OR_STONES", "PAWNSHOPS", "CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS", "MINING_EXTRACTIVE_INDUSTRIES", "ENERGY", "TRADE_IN_PETROL_PRODUCTS", "TRADE_IN_MEDICINES", "REAL_ESTATE", "CONSTRUCTION_REPAIR", "CONSULTANCY_LEGAL", "FREELANCE", "NON_PROFIT_LEGAL_ENTITIES", "CRYPTOCURRENCIES", "GAMING", "GAMBLING", "EU_FUNDS_UTILIZATION", "ADULT", "HIGH_VALUE_ASSET_DEALER", "BANKING_LENDING", "INSURANCE_SECURITY", "TRANSPORTATION_AND_LOGISTICS", "MANUFACTURING", "UTILITIES_AND_INFRASTRUCTURE", "TRADE_IN_FOOD_PRODUCT", "WHOLESALE", "REPAIR_OF_MOTOR_VEHICLES", "SOCIAL_WORK_ACTIVITIES", "AUTO_AVIATION", "COURIER_POST_SERVICES", "AGRICULTURE_FORESTRY_AND_FISHING", "OTHER_TRADE_AND_SALES", "TRAVEL_TOURISM", "INFORMATION_AND_COMMUNICATION", "PR_MARKETING", "EDUCATION", "INFORMATIONAL_TECHNOLOGIES", "PUBLIC_AND_DEFENCE_SECTOR", "HEALTH_CARE_MEDICAL_SERVICES", "ART_ENTERTAINMENT_SPORT", "ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES", "HOSPITALITY_AND_LEISURE", "SCIENTIFIC_AND_TECHNICAL_ACTIVITIES", "OTHER"]
    source_of_funds: Literal["COMPENSATION_PAYOUT", "COMPANY_PROFITS", "COMPANY_SALE", "DIVIDEND_PAYMENTS", "DIVORCE_SETTLEMENT", "FIXED_DEPOSITS", "GIFT", "INHERITANCE", "INSURANCE_PAYOUT", "LOAN", "LOTTERY_OR_GAMBLING_WIN", "RETIREMENT_INCOME", "SALE_OF_INVESTMENT", "SALE_OF_PROPERTY", "SAVINGS_FROM_SALARY", "OTHER"]
    # Description; required when occupation is OTHER.
    other_occupation: NotRequired[str]
    # Description; required when source_of_funds is OTHER.
    other_source_of_funds: NotRequired[str]
    funds_origin_country_id: NotRequired[Literal[4, 248, 8, 12, 16, 20, 24, 660, 10, 28, 32, 51, 533, 36, 40, 31, 44, 48, 50, 52, 112, 56, 84, 204, 60, 64, 68, 535, 70, 72, 74, 76, 86, 96, 100, 854, 108, 132, 116, 120, 124, 136, 140, 148, 152, 156, 162, 166, 170, 174, 178, 180, 184, 188, 384, 191, 192, 531, 196, 203, 208, 262, 212, 214, 218, 818, 222, 226, 232, 233, 748, 231, 238, 234, 242, 246, 250, 254, 258, 260, 266, 270, 268, 276, 288, 292, 300, 304, 308, 312, 316, 320, 831, 324, 624, 328, 332, 334, 336, 340, 344, 348, 352, 356, 360, 364, 368, 372, 833, 376, 380, 388, 392, 832, 400, 398, 404, 296, 408, 410, 414, 417, 418, 428, 422, 426, 430, 434, 438, 440, 442, 446, 450, 454, 458, 462, 466, 470, 584, 474, 478, 480, 175, 484, 583, 498, 492, 496, 499, 500, 504, 508, 104, 516, 520, 524, 528, 540, 554, 558, 562, 566, 570, 574, 807, 580, 578, 512, 586, 585, 275, 591, 598, 600, 604, 608, 612, 616, 620, 630, 634, 638, 642, 643, 646, 652, 654, 659, 662, 663, 666, 670, 882, 674, 678, 682, 686, 688, 690, 694, 702, 534, 703, 705, 90, 706, 710, 239, 728, 724, 144, 729, 740, 744, 752, 756, 760, 158, 762, 834, 764, 626, 768, 772, 776, 780, 788, 792, 795, 796, 798, 800, 804, 784, 826, 840, 581, 858, 860, 548, 862, 704, 92, 850, 876, 732, 887, 894, 716]]
    tax_identification_number: NotRequired[str]


class UpdateOnboardingDetailsBody(TypedDict):
    # Purposes of the account. `account_purposes_input` is an alias of `account_purposes`.
    account_purposes: NotRequired[list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]]
    # Purposes of the account. `account_purposes_input` is an alias of `account_purposes`.
    account_purposes_input: NotRequired[list[Literal["PAY_BILLS", "MONEY_TO_FROM_FAMILY", "DIVIDENDS", "SAVINGS", "PERSONAL_BUSINESS_PURPOSES", "PENSION", "CRYPTO", "SALARY", "LOTTERY_GAMING", "RECONCILIATION", "VIRTUAL_ACCOUNT", "CURRENCY_EXCHANGE", "OTHER"]]]
    expected_monthly_incoming_volume: NotRequired[Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]]
    expected_monthly_outgoing_volume: NotRequired[Literal["LESS_THAN1000", "BETWEEN1001_AND5000", "BETWEEN5001_AND10000", "BETWEEN10001_AND15000", "BETWEEN15001_AND30000", "BETWEEN30001_AND60000", "MORE_THAN60001"]]
    # Whether the client is a US person for tax purposes.
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
    # Newest KYC application of the client.
    kyc_application_id: NotRequired[str]
    # Verification link of that application, while the applicant can use it. Treat it as a secret.
    kyc_link: NotRequired[str]
    created_at: str
    updated_at: str


class Beneficiary(TypedDict):
    id: str
    client_id: str
    beneficiary_type: Literal["PERSON", "COMPANY"]
    name: str
    # Whether the beneficiary is shown to users.
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
    # Client who pays the beneficiary.
    client_id: str
    beneficiary_type: NotRequired[Literal["PERSON", "COMPANY"]]
    # Name of the person or company.
    name: str
    # Whether the beneficiary is shown to users.
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
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    # Client who pays the beneficiary.
    client_id: NotRequired[str]
    beneficiary_type: NotRequired[Literal["PERSON", "COMPANY"]]
    # Country code (ISO 3166-1 alpha-3).
    country_code: NotRequired[Literal["AFG", "ALA", "ALB", "DZA", "ASM", "AND", "AGO", "AIA", "ATA", "ATG", "ARG", "ARM", "ABW", "AUS", "AUT", "AZE", "BHS", "BHR", "BGD", "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BES", "BIH", "BWA", "BVT", "BRA", "IOT", "BRN", "BGR", "BFA", "BDI", "CPV", "KHM", "CMR", "CAN", "CYM", "CAF", "TCD", "CHL", "CHN", "CXR", "CCK", "COL", "COM", "COG", "COD", "COK", "CRI", "CIV", "HRV", "CUB", "CUW", "CYP", "CZE", "DNK", "DJI", "DMA", "DOM", "ECU", "EGY", "SLV", "GNQ", "ERI", "EST", "SWZ", "ETH", "FLK", "FRO", "FJI", "FIN", "FRA", "GUF", "PYF", "ATF", "GAB", "GMB", "GEO", "DEU", "GHA", "GIB", "GRC", "GRL", "GRD", "GLP", "GUM", "GTM", "GGY", "GIN", "GNB", "GUY", "HTI", "HMD", "VAT", "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRN", "IRQ", "IRL", "IMN", "ISR", "ITA", "JAM", "JPN", "JEY", "JOR", "KAZ", "KEN", "KIR", "PRK", "KOR", "KWT", "KGZ", "LAO", "LVA", "LBN", "LSO", "LBR", "LBY", "LIE", "LTU", "LUX", "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MHL", "MTQ", "MRT", "MUS", "MYT", "MEX", "FSM", "MDA", "MCO", "MNG", "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NCL", "NZL", "NIC", "NER", "NGA", "NIU", "NFK", "MKD", "MNP", "NOR", "OMN", "PAK", "PLW", "PSE", "PAN", "PNG", "PRY", "PER", "PHL", "PCN", "POL", "PRT", "PRI", "QAT", "REU", "ROU", "RUS", "RWA", "BLM", "SHN", "KNA", "LCA", "MAF", "SPM", "VCT", "WSM", "SMR", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SXM", "SVK", "SVN", "SLB", "SOM", "ZAF", "SGS", "SSD", "ESP", "LKA", "SDN", "SUR", "SJM", "SWE", "CHE", "SYR", "TWN", "TJK", "TZA", "THA", "TLS", "TGO", "TKL", "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "TUV", "UGA", "UKR", "ARE", "GBR", "USA", "UMI", "URY", "UZB", "VUT", "VEN", "VNM", "VGB", "VIR", "WLF", "ESH", "YEM", "ZMB", "ZWE"]]
    # Whether the beneficiary is shown to users.
    display: NotRequired[bool]
    # Part of the name, IBAN (without spaces) or account number, in any case.
    search: NotRequired[str]


class UpdateBeneficiaryBody(TypedDict):
    beneficiary_type: NotRequired[Literal["PERSON", "COMPANY"]]
    # Name of the person or company.
    name: NotRequired[str]
    # Whether the beneficiary is shown to users.
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
    # Currency of all amounts (ISO 4217).
    currency: str
    # Sum of the available and the reserved balance.
    current_balance: str
    # Balance that can be spent.
    available_balance: str
    # Balance that is reserved by open holds.
    reserved_balance: str
    status: Literal["PENDING", "ACTIVE", "SUSPENDED", "CLOSED"]
    opened_date: str
    created_at: str
    updated_at: str
    closed_date: NotRequired[str]
    last_activity_date: NotRequired[str]
    # Maximum sum of outgoing amounts in a day (UTC).
    daily_limit: NotRequired[str]
    # Maximum sum of outgoing amounts in a month (UTC).
    monthly_limit: NotRequired[str]
    # Maximum sum of outgoing amounts in a year (UTC).
    yearly_limit: NotRequired[str]
    description: NotRequired[str]
    # Your own identifier of the account.
    external_account_id: NotRequired[str]


class OpenAccountBody(TypedDict):
    # Client who owns the account.
    client_id: str
    account_type: Literal["CURRENT", "SAVINGS", "ESCROW"]
    # Name of the account.
    account_name: str
    # Currency of the account (ISO 4217). The deployment configures the accepted currencies.
    currency: str
    # Maximum sum of outgoing amounts in a day (UTC), in the currency of the account. At most the monthly limit.
    daily_limit: NotRequired[str]
    # Maximum sum of outgoing amounts in a month (UTC), in the currency of the account. At most the yearly limit.
    monthly_limit: NotRequired[str]
    # Maximum sum of outgoing amounts in a year (UTC), in the currency of the account. At least the monthly limit.
    yearly_limit: NotRequired[str]
    # Free text.
    description: NotRequired[str]
    # Your own identifier of the account; unique in your business.
    external_account_id: NotRequired[str]


class ListAccountsQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    # Client who owns the account.
    client_id: NotRequired[str]
    account_type: NotRequired[Literal["CURRENT", "SAVINGS", "ESCROW"]]
    status: NotRequired[Literal["PENDING", "ACTIVE", "SUSPENDED", "CLOSED"]]
    # Currency of the account (ISO 4217). The deployment configures the accepted currencies.
    currency: NotRequired[str]
    # Part of the account name, account number or external_account_id, in any case.
    search: NotRequired[str]


class UpdateAccountBody(TypedDict):
    # Name of the account.
    account_name: NotRequired[str]
    daily_limit: NotRequired[str | None]
    monthly_limit: NotRequired[str | None]
    yearly_limit: NotRequired[str | None]
    description: NotRequired[str | None]
    external_account_id: NotRequired[str | None]


class CreateWebhookEndpointResult(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types that the endpoint receives, also when it has the default types (all except the opt-in ones).
    events: list[str]
    created_at: str
    # Signing secret; only in the response that creates it.
    secret: NotRequired[str]


class CreateWebhookEndpointBody(TypedDict):
    # URL that receives the webhooks: absolute, https, with a public host, at most 2048 characters, without credentials and fragment. A development system also accepts http and loopback addresses.
    url: str
    # Event types that the endpoint receives. An empty list selects the default: all types except the opt-in ones.
    events: NotRequired[list[Literal["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED", "KYC_FAILED", "KYC_EXPIRED", "KYC_CANCELED", "KYC_DOCUMENT_EXPIRING", "KYC_DOCUMENT_EXPIRED", "PAYMENT_COMPLETED", "PAYMENT_REFUSED", "PAYMENT_FAILED", "PAYMENT_CANCELED", "PAYMENT_EXPIRED", "PAYMENT_REFUNDED", "WEBHOOK_ENDPOINT_DISABLED"]]]


class ListWebhookEndpointsItem(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types that the endpoint receives, also when it has the default types (all except the opt-in ones).
    events: list[str]
    created_at: str
    updated_at: str


class ListWebhookEndpointsQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]


class WebhookEndpoint(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types that the endpoint receives, also when it has the default types (all except the opt-in ones).
    events: list[str]
    created_at: str
    updated_at: str
    # Health of the deliveries to the endpoint. Attempts are included after a few seconds. The limits of hour and day have a resolution of five minutes.
    health: NotRequired[WebhookEndpointHealth]


class WebhookEndpointHealth(TypedDict):
    # Time since which all attempts have failed. After five days the endpoint is disabled.
    failing_since: NotRequired[str]
    # Share of successful attempts in the last hour, from 0 to 1. Absent without attempts.
    success_rate_1h: NotRequired[float]
    # Share of successful attempts in the last day, from 0 to 1. Absent without attempts.
    success_rate_24h: NotRequired[float]
    # Newest error in the last day: the `error` of the attempt, or `http_` with the status.
    last_error: NotRequired[str]
    # 95th percentile of the attempt durations in the last day, in milliseconds, with an error of up to 20 %.
    p95_ms_24h: NotRequired[int]


class UpdateWebhookEndpointResult(TypedDict):
    id: str
    business_id: str
    url: str
    status: Literal["ACTIVE", "DISABLED"]
    # Event types that the endpoint receives, also when it has the default types (all except the opt-in ones).
    events: list[str]
    updated_at: str
    # Signing secret; only in the response that creates it.
    secret: NotRequired[str]


class UpdateWebhookEndpointBody(TypedDict):
    # URL that receives the webhooks: absolute, https, with a public host, at most 2048 characters, without credentials and fragment. A development system also accepts http and loopback addresses.
    url: NotRequired[str]
    # Whether to replace the signing secret. The response contains the new `secret`.
    rotate_secret: NotRequired[bool]
    # Seconds for which `X-Signature` still uses the old secret, so that the receiver can be configured first; 0 by default. Requires `rotate_secret`.
    activate_in_seconds: NotRequired[int]
    status: NotRequired[Literal["ACTIVE", "DISABLED"]]
    events: NotRequired[list[Literal["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED", "KYC_FAILED", "KYC_EXPIRED", "KYC_CANCELED", "KYC_DOCUMENT_EXPIRING", "KYC_DOCUMENT_EXPIRED", "PAYMENT_COMPLETED", "PAYMENT_REFUSED", "PAYMENT_FAILED", "PAYMENT_CANCELED", "PAYMENT_EXPIRED", "PAYMENT_REFUNDED", "WEBHOOK_ENDPOINT_DISABLED"]] | None]


class TestWebhookEndpointResult(TypedDict):
    id: str
    type: str
    created_at: str
    # Body of each delivery of the event, byte for byte as signed.
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
    # HTTP status of the response.
    status_code: NotRequired[int]
    # Reason for an attempt without an HTTP response. Absent with a `status_code`, and for attempts of versions without these codes.
    error: NotRequired[Literal["timeout", "dns_error", "connection_refused", "connection_reset", "tls_error", "address_forbidden", "invalid_response", "secret_unreadable"]]
    # Description of the error.
    detail: NotRequired[str]
    # Duration of the attempt in milliseconds.
    duration_ms: int
    # First 1024 bytes of the response body.
    response: NotRequired[str]


class CheckWebhookEndpointResult(TypedDict):
    checks: list[CheckWebhookEndpointResultChecks]


class CheckWebhookEndpointResultChecks(TypedDict):
    name: Literal["good", "forged_signature", "duplicate", "old_timestamp"]
    # Whether the endpoint responded as required.
    passed: bool
    # Response of the endpoint, and the necessary change if the check failed.
    detail: str


class WebhookReplay(TypedDict):
    id: str
    status: Literal["RUNNING", "DONE"]
    # Number of deliveries that match the filters. It can still grow while the status is RUNNING.
    matched: int
    # Number of matching deliveries that were started again.
    sent: int


class ReplayWebhookEndpointBody(TypedDict):
    # Start of the range of event times, inclusive. Events are stored for 30 days.
    since: str
    # End of the range of event times, exclusive; the current time by default.
    until: NotRequired[str]
    # Event types; all by default.
    types: NotRequired[list[Literal["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED", "KYC_FAILED", "KYC_EXPIRED", "KYC_CANCELED", "KYC_DOCUMENT_EXPIRING", "KYC_DOCUMENT_EXPIRED", "PAYMENT_COMPLETED", "PAYMENT_REFUSED", "PAYMENT_FAILED", "PAYMENT_CANCELED", "PAYMENT_EXPIRED", "PAYMENT_REFUNDED", "WEBHOOK_ENDPOINT_DISABLED", "WEBHOOK_TEST"]]]
    # Statuses of the deliveries; `skipped` and `failed` by default. `pending` starts the next attempt now.
    statuses: NotRequired[list[Literal["pending", "succeeded", "failed", "skipped"]]]


class Event(TypedDict):
    id: str
    type: str
    created_at: str
    # Body of each delivery of the event, byte for byte as signed.
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
    # Webhook endpoint that receives the event; by default all that have a delivery of it.
    endpoint_id: NotRequired[str]


class OnboardBusinessResult(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    created_at: str
    updated_at: str
    # Contact address. Only of a business that registered itself.
    contact_email: NotRequired[str]
    # Plaintext of the key; only in the response that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the newest live API key.
    api_key_prefix: NotRequired[str]


class OnboardBusinessBody(TypedDict):
    # Name of the business.
    name: str
    # E-mail address at which operators contact the business.
    contact_email: str


class OwnBusiness(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    created_at: str
    updated_at: str
    # First 16 characters of the newest live API key.
    api_key_prefix: NotRequired[str]


class UpdateOwnBusinessResult(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    updated_at: str
    # Plaintext of the key; only in the response that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the newest live API key.
    api_key_prefix: NotRequired[str]


class UpdateOwnBusinessBody(TypedDict):
    # Name of the business.
    name: NotRequired[str]
    # Whether to replace the key of this request. The response contains the new `api_key`.
    rotate_api_key: NotRequired[bool]
    # Seconds for which the replaced key stays valid, 0 by default. Requires `rotate_api_key`.
    previous_key_ttl_seconds: NotRequired[int]


class OwnApiKey(TypedDict):
    id: str
    name: str
    # First 16 characters of the key.
    prefix: str
    created_at: str
    last_used_at: NotRequired[str]
    # Time at which the key expires. Absent without an expiry.
    expires_at: NotRequired[str]
    # Networks from which the key is accepted, in canonical form. Absent when all are accepted.
    allowed_ips: NotRequired[list[str]]
    revoked_at: NotRequired[str]


class CreateOwnApiKeyResult(TypedDict):
    id: str
    name: str
    # Plaintext of the key; only in the response that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the key.
    prefix: str
    created_at: str
    # Time at which the key expires. Absent without an expiry.
    expires_at: NotRequired[str]
    # Networks from which the key is accepted, in canonical form. Absent when all are accepted.
    allowed_ips: NotRequired[list[str]]


class CreateOwnApiKeyBody(TypedDict):
    # Name of the key; unique among your live keys.
    name: str
    # Time in the future at which the key expires. Without it the key does not expire.
    expires_at: NotRequired[str]
    # Networks from which the key is accepted, as IPv4 or IPv6 addresses or CIDRs. Requests from other addresses are rejected with 403. Without it all addresses are accepted.
    allowed_ips: NotRequired[list[str]]


class RevokeOwnApiKeyResult(TypedDict):
    id: str
    name: str
    # First 16 characters of the key.
    prefix: str
    revoked_at: NotRequired[str]


class RevokeOwnApiKeyBody(TypedDict):
    # Reason, stored in the audit trail.
    reason: NotRequired[str]


class Business(TypedDict):
    id: str
    name: str
    status: Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]
    created_at: str
    updated_at: str
    # Number of the business, assigned by Amana.
    organization_id: int
    # Contact address. Only of a business that registered itself.
    contact_email: NotRequired[str]
    # Plaintext of the key; only in the response that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the newest live API key.
    api_key_prefix: NotRequired[str]


class CreateBusinessBody(TypedDict):
    # Name of the business.
    name: str
    # Initial status, ACTIVE by default. Keys of a PENDING business are rejected.
    status: NotRequired[Literal["ACTIVE", "PENDING"]]


class ListBusinessesQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    status: NotRequired[Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]]
    # Part of the name, in any case.
    search: NotRequired[str]


class UpdateBusinessBody(TypedDict):
    # Name of the business.
    name: NotRequired[str]
    status: NotRequired[Literal["PENDING", "ACTIVE", "DISABLED", "REJECTED"]]
    # Whether to replace the newest live key. The response contains the new `api_key`.
    rotate_api_key: NotRequired[bool]


class ReviewKycApplicationResult(TypedDict):
    id: str
    created_at: str
    link_expires_at: str
    status: Literal["CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"]
    # Time at which the state was last received from the verification provider.
    synced_at: str
    # Number of hits in anti-money-laundering lists.
    aml_hit_count: int
    reason_codes: list[KycApplicationReasonCodes]
    # Number of submissions.
    attempts_used: int
    # Number of submissions that are still possible.
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
    # Your own data, unchanged, including the order of keys.
    metadata: dict[str, Any]


class ReviewKycApplicationBody(TypedDict):
    # Verdict of the review.
    outcome: Literal["APPROVED", "REJECTED"]
    # Reason, stored in the audit trail.
    note: str


class ApproveOnboardingBody(TypedDict):
    # Reason, stored in the audit trail.
    reason: NotRequired[str]


class CreateApiKeyResult(TypedDict):
    id: str
    business_id: str
    name: str
    # Plaintext of the key; only in the response that issues it.
    api_key: NotRequired[str]
    # First 16 characters of the key.
    api_key_prefix: str
    created_at: str
    # Time at which the key expires. Absent without an expiry.
    expires_at: NotRequired[str]
    # Networks from which the key is accepted, in canonical form. Absent when all are accepted.
    allowed_ips: NotRequired[list[str]]


class CreateApiKeyBody(TypedDict):
    # Business that receives the key.
    business_id: str
    # Name of the key; unique among the live keys of the business.
    name: str
    # Time in the future at which the key expires. Without it the key does not expire.
    expires_at: NotRequired[str]
    # Networks from which the key is accepted, as IPv4 or IPv6 addresses or CIDRs. Requests from other addresses are rejected with 403. Without it all addresses are accepted.
    allowed_ips: NotRequired[list[str]]


class ApiKey(TypedDict):
    id: str
    business_id: str
    name: str
    # First 16 characters of the key.
    api_key_prefix: str
    created_at: str
    last_used_at: NotRequired[str]
    # Time at which the key expires. Absent without an expiry.
    expires_at: NotRequired[str]
    # Networks from which the key is accepted, in canonical form. Absent when all are accepted.
    allowed_ips: NotRequired[list[str]]
    revoked_at: NotRequired[str]


class ListApiKeysQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    # Business that owns the keys.
    business_id: NotRequired[str]


class RevokeApiKeyResult(TypedDict):
    id: str
    business_id: str
    name: str
    # First 16 characters of the key.
    api_key_prefix: str
    revoked_at: NotRequired[str]


class CreateOperatorKeyResult(TypedDict):
    id: str
    name: str
    # Plaintext of the key; only in the response that issues it.
    admin_key: NotRequired[str]
    # First 16 characters of the key.
    admin_key_prefix: str
    created_at: str


class CreateOperatorKeyBody(TypedDict):
    # Name of the key; unique among live operator keys.
    name: str


class OperatorKey(TypedDict):
    id: str
    name: str
    # First 16 characters of the key.
    admin_key_prefix: str
    created_at: str
    # Time of the last use, to the minute.
    last_used_at: NotRequired[str]
    revoked_at: NotRequired[str]


class CreateInvitationResult(TypedDict):
    id: str
    name: str
    # Plaintext of the token; only in the response that creates the invitation.
    invitation_token: NotRequired[str]
    # First 16 characters of the token.
    token_prefix: str
    created_at: str
    expires_at: str


class CreateInvitationBody(TypedDict):
    # Name of the invited business or person.
    name: str
    # Time at which the invitation expires, at most 30 days ahead; 7 days by default.
    expires_at: NotRequired[str]


class Invitation(TypedDict):
    id: str
    name: str
    # First 16 characters of the token.
    token_prefix: str
    created_at: str
    expires_at: str
    used_at: NotRequired[str]
    # Business that registered with the invitation.
    business_id: NotRequired[str]
    revoked_at: NotRequired[str]


class Refund(TypedDict):
    id: str
    business_id: str
    payment_id: str
    amount: str
    currency: str
    status: Literal["REQUESTED", "SENT", "ACCEPTED", "REJECTED", "UNKNOWN", "NOT_SENT"]
    # Whether an operator must decide the refund.
    needs_decision: bool
    # OUTCOME_UNKNOWN: the outcome is still unknown after a day. UNEXPLAINED: no rule explains the state at the processor.
    decision_reason: NotRequired[str]
    needs_decision_since: NotRequired[str]
    # Last decision of an operator.
    resolution: NotRequired[Literal["ACCEPTED", "REJECTED", "SEND_AGAIN"]]
    # Number of times the refund was sent to the card processor.
    sends: int
    last_sent_at: NotRequired[str]
    processor_error_code: NotRequired[str]
    payment_status: str
    payment_amount: str
    payment_refunded_amount: NotRequired[str]
    # State of the order at the card processor at `read_at`.
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
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    # `true` for the refunds that need a decision of an operator.
    needs_decision: NotRequired[bool]


class ResolveRefundBody(TypedDict):
    # Decision about the refund.
    outcome: Literal["ACCEPTED", "REJECTED", "SEND_AGAIN"]
    # Reason, stored in the audit trail.
    note: str


class PaymentTimeline(TypedDict):
    payment: Payment
    # Entries, oldest first; within a millisecond, causes before effects. Calls, events and attempts are those of the last 30 days.
    entries: list[PaymentTimelineEntries]
    # Kinds that are unavailable at the moment: `events`, including their delivery attempts. Absent when the timeline is complete.
    missing: NotRequired[list[Literal["events"]]]
    # Kinds with more entries than returned. The timeline has at most 200 calls (the first 50 and the newest 150), 20 events and the newest 50 attempts of each delivery. Absent when the timeline has all entries.
    truncated: NotRequired[list[Literal["processor_calls", "events"]]]


class PaymentTimelineEntries(TypedDict):
    # Time at which the entry happened or began; for `next_attempt`, the scheduled time.
    at: str
    kind: Literal["payment", "processor_call", "refund", "event", "delivery_attempt", "next_attempt"]
    # New status of a payment or refund, operation of a processor call, or type of an event.
    name: str
    # Outcome of a call (ACCEPTED, REFUSED, UNKNOWN or NOT_SENT), or HTTP status or error code of a delivery attempt.
    outcome: NotRequired[str]
    detail: NotRequired[str]
    # Duration in milliseconds.
    duration_ms: NotRequired[int]
    refund_id: NotRequired[str]
    event_id: NotRequired[str]
    endpoint_id: NotRequired[str]


class ListChangedPaymentsItem(TypedDict):
    id: str
    business_id: str
    # Amount of the payment, in the currency.
    amount: str
    # Currency (ISO 4217).
    currency: str
    status: Literal["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"]
    language: str
    success_url: str
    fail_url: str
    # Order number at the card processor.
    processor_order_number: str
    created_at: str
    updated_at: str
    paid_at: NotRequired[str]
    action_code: NotRequired[str]
    action_code_description: NotRequired[str]
    approval_code: NotRequired[str]
    card_brand: NotRequired[str]
    description: NotRequired[str]
    # Page with the card form, for the browser of the card holder.
    form_url: NotRequired[str]
    # Masked card number.
    masked_pan: NotRequired[str]
    # Your own identifier of the order.
    order_ref: NotRequired[str]
    resp_code: NotRequired[str]
    resp_code_desc: NotRequired[str]
    processor_error_code: NotRequired[str]
    processor_order_id: NotRequired[str]
    processor_order_status: NotRequired[int]
    # Refunded amount, in the currency.
    refunded_amount: NotRequired[str]
    # PROCESSOR when the payment was refunded or reversed at the card processor without Amana.
    origin: NotRequired[str]
    # State at the processor that no rule explains. The payment was not changed, and an operator must investigate.
    difference: NotRequired[str]
    # State of the order at the card processor at `read_at`.
    processor: RefundProcessor


class ListChangedPaymentsQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    # Origin of the change. The list is the same without this filter.
    origin: NotRequired[Literal["PROCESSOR"]]


class AuditEvent(TypedDict):
    id: str
    at: str
    # Actor: the first 16 characters of the key of the request, `platform` for the deployment itself, or `command:` with the name of the user of the `amana` command.
    actor: str
    actor_key_id: NotRequired[str]
    # Name of that key.
    actor_name: NotRequired[str]
    action: str
    entity: AuditEventEntity
    business_id: NotRequired[str]
    # Values before the action, without secrets. Absent when the resource did not exist.
    before: NotRequired[dict[str, Any]]
    # Values after the action, without secrets.
    after: NotRequired[dict[str, Any]]
    reason: NotRequired[str]
    request_id: str
    # IP address of the caller.
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
    # Service that failed to apply the event.
    service: str
    topic: str
    # Id of the event, as in webhooks.
    event_id: str
    event_type: str
    # Id of the resource that the event concerns.
    key: str
    # RETRYING: retried automatically. WAITING: retried after an upgrade of the service, which does not support the event type. PARKED: all retries failed; an operator must retry or drop it. FORGED: stored by an earlier version after a rejection; current versions only count these messages. DELIVERED and DROPPED are final.
    status: Literal["RETRYING", "WAITING", "PARKED", "FORGED", "DELIVERED", "DROPPED"]
    # Error of the last attempt.
    reason: str
    attempts: int
    next_attempt_at: NotRequired[str]
    headers: dict[str, Any]
    payload_bytes: int
    created_at: str
    updated_at: str


class ListDeadLettersQuery(TypedDict):
    # Maximum number of items on the page.
    limit: NotRequired[int]
    # Number of items to skip before the page.
    offset: NotRequired[int]
    # Consuming service; all of them by default.
    service: NotRequired[Literal["webhooks", "clients", "identity"]]
    # Topic of the event.
    topic: NotRequired[str]
    status: NotRequired[Literal["RETRYING", "WAITING", "PARKED", "FORGED", "DELIVERED", "DROPPED"]]


class DeadLetter(TypedDict):
    id: str
    # Service that failed to apply the event.
    service: str
    topic: str
    # Id of the event, as in webhooks.
    event_id: str
    event_type: str
    # Id of the resource that the event concerns.
    key: str
    # RETRYING: retried automatically. WAITING: retried after an upgrade of the service, which does not support the event type. PARKED: all retries failed; an operator must retry or drop it. FORGED: stored by an earlier version after a rejection; current versions only count these messages. DELIVERED and DROPPED are final.
    status: Literal["RETRYING", "WAITING", "PARKED", "FORGED", "DELIVERED", "DROPPED"]
    # Error of the last attempt.
    reason: str
    attempts: int
    next_attempt_at: NotRequired[str]
    headers: dict[str, Any]
    payload_bytes: int
    # Payload of the event with ids, enum values and numbers. Other texts are replaced by their length. Absent in lists.
    payload: NotRequired[dict[str, Any]]
    created_at: str
    updated_at: str


class DropDeadLetterBody(TypedDict):
    # Reason, stored in the audit trail.
    note: str

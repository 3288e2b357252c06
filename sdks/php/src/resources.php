<?php

// Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.

declare(strict_types=1);

namespace Amana;

/**
 * The API with one key. What its operations take and answer:
 *
 * @phpstan-type Payment array{id: string, business_id: string, amount: string, currency: string, status: 'PENDING'|'PAID'|'FAILED'|'REFUSED'|'CANCELED'|'REFUNDED'|'EXPIRED', language: string, success_url: string, fail_url: string, processor_order_number: string, created_at: string, updated_at: string, paid_at?: string, action_code?: string, action_code_description?: string, approval_code?: string, card_brand?: string, description?: string, form_url?: string, masked_pan?: string, order_ref?: string, resp_code?: string, resp_code_desc?: string, processor_error_code?: string, processor_order_id?: string, processor_order_status?: int, refunded_amount?: string, origin?: string}
 * @phpstan-type CreatePaymentBody array{amount: string, success_url: string, fail_url: string, order_ref?: string, description?: string, language?: 'AR'|'FR'|'EN', currency?: 'DZD'}
 * @phpstan-type ListPaymentsQuery array{limit?: int, offset?: int, status?: 'PENDING'|'PAID'|'FAILED'|'REFUSED'|'CANCELED'|'REFUNDED'|'EXPIRED', order_ref?: string, payment_link_id?: string, created_from?: string, created_to?: string}
 * @phpstan-type RefundPaymentBody array{amount?: string}
 * @phpstan-type CreateKycApplicationResult array{id: string, created_at: string, link_url: string, link_expires_at: string, status: 'CREATED'|'OPENED'|'SUBMITTED'|'PROCESSING'|'COMPLETED'|'EXPIRED'|'CANCELED'|'FAILED', client_id?: string, external_id?: string}
 * @phpstan-type CreateKycApplicationBody array{allowed_documents?: list<'id_card'|'passport'>, applicant_email?: string, applicant_phone?: string, client_id?: string, external_id?: string, locale?: 'fr'|'ar'|'en', max_attempts?: int, metadata?: array<string, mixed>, profile?: array<string, mixed>, redirect_url?: string, require_video?: bool, ttl_hours?: int}
 * @phpstan-type KycApplication array{id: string, created_at: string, link_url?: string, link_expires_at: string, status: 'CREATED'|'OPENED'|'SUBMITTED'|'PROCESSING'|'COMPLETED'|'EXPIRED'|'CANCELED'|'FAILED', synced_at: string, aml_hit_count: int, reason_codes: list<KycApplicationReasonCodes>, attempts_used: int, attempts_remaining: int, client_id?: string, external_id?: string, verdict?: 'APPROVED'|'NEEDS_REVIEW'|'REJECTED', completed_at?: string, decision_summary?: string, document_type?: 'id_card'|'passport', document_expiry?: string, nationality?: string, liveness_outcome?: string, face_match_outcome?: string, aml_decision?: string, error_message?: string, metadata: array<string, mixed>}
 * @phpstan-type KycApplicationReasonCodes array{code: string, message?: string}
 * @phpstan-type ListKycApplicationsQuery array{limit?: int, offset?: int, status?: 'CREATED'|'OPENED'|'SUBMITTED'|'PROCESSING'|'COMPLETED'|'EXPIRED'|'CANCELED'|'FAILED', verdict?: 'APPROVED'|'NEEDS_REVIEW'|'REJECTED', client_id?: string, external_id?: string, created_from?: string, created_to?: string}
 * @phpstan-type Client array{id: string, organization_id: int, first_name: string, middle_name?: string, last_name: string, date_of_birth: string, gender: 'male'|'female', birth_country: string, nationality: string, country_of_tax_residence: string, address: string, city: string, postcode: string, state_province?: string, country_code: string, email: string, second_email?: string, mobile_phone_number?: string, second_mobile_phone_number?: string, planned_income?: string, planned_expenditure?: string, external_client_code?: string, blocked: bool, is_blacklisted: bool, blacklisted_comment?: string, risk_level: 'Low'|'Medium'|'High', kyc_level: 'FULL_KYC'|'DOC_ONLY'|'NOT_REQUIRED', kyc_status: 'NOT_STARTED'|'CREATED'|'PROCESSING'|'ABORTED'|'PENDING_REVIEW'|'VALIDATED'|'DECLINED', kyc_note?: string, created_at: string, updated_at: string}
 * @phpstan-type CreatePersonBody array{first_name: string, middle_name?: string, last_name: string, date_of_birth: string, gender: 'male'|'female', birth_country: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE', nationality: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE', country_of_tax_residence: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE', address: string, city: string, postcode: string, country_code: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE', email: string, kyc_level?: 'FULL_KYC'|'DOC_ONLY'|'NOT_REQUIRED', blocked?: bool, is_blacklisted?: bool, risk_level?: 'Low'|'Medium'|'High', state_province?: string, second_email?: string, mobile_phone_number?: string, second_mobile_phone_number?: string, planned_income?: string, planned_expenditure?: string, external_client_code?: string, kyc_note?: string, blacklisted_comment?: string}
 * @phpstan-type ListClientsQuery array{limit?: int, offset?: int, organization_id?: int, kyc_status?: 'NOT_STARTED'|'CREATED'|'PROCESSING'|'ABORTED'|'PENDING_REVIEW'|'VALIDATED'|'DECLINED', risk_level?: 'Low'|'Medium'|'High', is_blacklisted?: bool, blocked?: bool, search?: string, email?: string, external_client_code?: string}
 * @phpstan-type UpdatePersonBody array{address?: string, city?: string, postcode?: string, country_code?: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE', email?: string, blocked?: bool, is_blacklisted?: bool, risk_level?: 'Low'|'Medium'|'High', state_province?: string|null, second_email?: string|null, mobile_phone_number?: string|null, second_mobile_phone_number?: string|null, planned_income?: string|null, planned_expenditure?: string|null, external_client_code?: string|null, kyc_note?: string|null, blacklisted_comment?: string|null}
 * @phpstan-type OnboardingDetails array{id: string, account_purposes: list<'PAY_BILLS'|'MONEY_TO_FROM_FAMILY'|'DIVIDENDS'|'SAVINGS'|'PERSONAL_BUSINESS_PURPOSES'|'PENSION'|'CRYPTO'|'SALARY'|'LOTTERY_GAMING'|'RECONCILIATION'|'VIRTUAL_ACCOUNT'|'CURRENCY_EXCHANGE'|'OTHER'>, expected_monthly_incoming_volume: 'LESS_THAN1000'|'BETWEEN1001_AND5000'|'BETWEEN5001_AND10000'|'BETWEEN10001_AND15000'|'BETWEEN15001_AND30000'|'BETWEEN30001_AND60000'|'MORE_THAN60001', expected_monthly_outgoing_volume: 'LESS_THAN1000'|'BETWEEN1001_AND5000'|'BETWEEN5001_AND10000'|'BETWEEN10001_AND15000'|'BETWEEN15001_AND30000'|'BETWEEN30001_AND60000'|'MORE_THAN60001', is_us_person: bool, occupation: 'BUSINESS_OWNER'|'CLERGY'|'CRAFTSMAN'|'ENGINEER'|'EXECUTIVE'|'FARMER'|'FREELANCE'|'LIBERAL_PROFESSION'|'POLITICIAN'|'PROFESSOR'|'PUBLIC_SERVANT'|'RETIRED'|'SHOPKEEPER'|'STUDENT'|'UNEMPLOYED'|'WORKER'|'OTHER', other_occupation?: string, occupation_sector: 'ACCOUNTING_AUDIT'|'E_MONEY_SERVICES'|'CURRENCY_EXCHANGE'|'TRADES_ON_OTC_MARKET'|'PRECIOUS_METALS_OR_STONES'|'PAWNSHOPS'|'CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS'|'MINING_EXTRACTIVE_INDUSTRIES'|'ENERGY'|'TRADE_IN_PETROL_PRODUCTS'|'TRADE_IN_MEDICINES'|'REAL_ESTATE'|'CONSTRUCTION_REPAIR'|'CONSULTANCY_LEGAL'|'FREELANCE'|'NON_PROFIT_LEGAL_ENTITIES'|'CRYPTOCURRENCIES'|'GAMING'|'GAMBLING'|'EU_FUNDS_UTILIZATION'|'ADULT'|'HIGH_VALUE_ASSET_DEALER'|'BANKING_LENDING'|'INSURANCE_SECURITY'|'TRANSPORTATION_AND_LOGISTICS'|'MANUFACTURING'|'UTILITIES_AND_INFRASTRUCTURE'|'TRADE_IN_FOOD_PRODUCT'|'WHOLESALE'|'REPAIR_OF_MOTOR_VEHICLES'|'SOCIAL_WORK_ACTIVITIES'|'AUTO_AVIATION'|'COURIER_POST_SERVICES'|'AGRICULTURE_FORESTRY_AND_FISHING'|'OTHER_TRADE_AND_SALES'|'TRAVEL_TOURISM'|'INFORMATION_AND_COMMUNICATION'|'PR_MARKETING'|'EDUCATION'|'INFORMATIONAL_TECHNOLOGIES'|'PUBLIC_AND_DEFENCE_SECTOR'|'HEALTH_CARE_MEDICAL_SERVICES'|'ART_ENTERTAINMENT_SPORT'|'ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES'|'HOSPITALITY_AND_LEISURE'|'SCIENTIFIC_AND_TECHNICAL_ACTIVITIES'|'OTHER', source_of_funds: 'COMPENSATION_PAYOUT'|'COMPANY_PROFITS'|'COMPANY_SALE'|'DIVIDEND_PAYMENTS'|'DIVORCE_SETTLEMENT'|'FIXED_DEPOSITS'|'GIFT'|'INHERITANCE'|'INSURANCE_PAYOUT'|'LOAN'|'LOTTERY_OR_GAMBLING_WIN'|'RETIREMENT_INCOME'|'SALE_OF_INVESTMENT'|'SALE_OF_PROPERTY'|'SAVINGS_FROM_SALARY'|'OTHER', other_source_of_funds?: string, funds_origin_country_id?: int, tax_identification_number?: string, kyc_application_id?: string, kyc_link?: string, created_at: string, updated_at: string}
 * @phpstan-type CreateOnboardingDetailsBody array{account_purposes: list<'PAY_BILLS'|'MONEY_TO_FROM_FAMILY'|'DIVIDENDS'|'SAVINGS'|'PERSONAL_BUSINESS_PURPOSES'|'PENSION'|'CRYPTO'|'SALARY'|'LOTTERY_GAMING'|'RECONCILIATION'|'VIRTUAL_ACCOUNT'|'CURRENCY_EXCHANGE'|'OTHER'>, account_purposes_input?: list<'PAY_BILLS'|'MONEY_TO_FROM_FAMILY'|'DIVIDENDS'|'SAVINGS'|'PERSONAL_BUSINESS_PURPOSES'|'PENSION'|'CRYPTO'|'SALARY'|'LOTTERY_GAMING'|'RECONCILIATION'|'VIRTUAL_ACCOUNT'|'CURRENCY_EXCHANGE'|'OTHER'>, expected_monthly_incoming_volume: 'LESS_THAN1000'|'BETWEEN1001_AND5000'|'BETWEEN5001_AND10000'|'BETWEEN10001_AND15000'|'BETWEEN15001_AND30000'|'BETWEEN30001_AND60000'|'MORE_THAN60001', expected_monthly_outgoing_volume: 'LESS_THAN1000'|'BETWEEN1001_AND5000'|'BETWEEN5001_AND10000'|'BETWEEN10001_AND15000'|'BETWEEN15001_AND30000'|'BETWEEN30001_AND60000'|'MORE_THAN60001', is_us_person: bool, occupation: 'BUSINESS_OWNER'|'CLERGY'|'CRAFTSMAN'|'ENGINEER'|'EXECUTIVE'|'FARMER'|'FREELANCE'|'LIBERAL_PROFESSION'|'POLITICIAN'|'PROFESSOR'|'PUBLIC_SERVANT'|'RETIRED'|'SHOPKEEPER'|'STUDENT'|'UNEMPLOYED'|'WORKER'|'OTHER', occupation_sector: 'ACCOUNTING_AUDIT'|'E_MONEY_SERVICES'|'CURRENCY_EXCHANGE'|'TRADES_ON_OTC_MARKET'|'PRECIOUS_METALS_OR_STONES'|'PAWNSHOPS'|'CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS'|'MINING_EXTRACTIVE_INDUSTRIES'|'ENERGY'|'TRADE_IN_PETROL_PRODUCTS'|'TRADE_IN_MEDICINES'|'REAL_ESTATE'|'CONSTRUCTION_REPAIR'|'CONSULTANCY_LEGAL'|'FREELANCE'|'NON_PROFIT_LEGAL_ENTITIES'|'CRYPTOCURRENCIES'|'GAMING'|'GAMBLING'|'EU_FUNDS_UTILIZATION'|'ADULT'|'HIGH_VALUE_ASSET_DEALER'|'BANKING_LENDING'|'INSURANCE_SECURITY'|'TRANSPORTATION_AND_LOGISTICS'|'MANUFACTURING'|'UTILITIES_AND_INFRASTRUCTURE'|'TRADE_IN_FOOD_PRODUCT'|'WHOLESALE'|'REPAIR_OF_MOTOR_VEHICLES'|'SOCIAL_WORK_ACTIVITIES'|'AUTO_AVIATION'|'COURIER_POST_SERVICES'|'AGRICULTURE_FORESTRY_AND_FISHING'|'OTHER_TRADE_AND_SALES'|'TRAVEL_TOURISM'|'INFORMATION_AND_COMMUNICATION'|'PR_MARKETING'|'EDUCATION'|'INFORMATIONAL_TECHNOLOGIES'|'PUBLIC_AND_DEFENCE_SECTOR'|'HEALTH_CARE_MEDICAL_SERVICES'|'ART_ENTERTAINMENT_SPORT'|'ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES'|'HOSPITALITY_AND_LEISURE'|'SCIENTIFIC_AND_TECHNICAL_ACTIVITIES'|'OTHER', source_of_funds: 'COMPENSATION_PAYOUT'|'COMPANY_PROFITS'|'COMPANY_SALE'|'DIVIDEND_PAYMENTS'|'DIVORCE_SETTLEMENT'|'FIXED_DEPOSITS'|'GIFT'|'INHERITANCE'|'INSURANCE_PAYOUT'|'LOAN'|'LOTTERY_OR_GAMBLING_WIN'|'RETIREMENT_INCOME'|'SALE_OF_INVESTMENT'|'SALE_OF_PROPERTY'|'SAVINGS_FROM_SALARY'|'OTHER', other_occupation?: string, other_source_of_funds?: string, funds_origin_country_id?: '4'|'248'|'8'|'12'|'16'|'20'|'24'|'660'|'10'|'28'|'32'|'51'|'533'|'36'|'40'|'31'|'44'|'48'|'50'|'52'|'112'|'56'|'84'|'204'|'60'|'64'|'68'|'535'|'70'|'72'|'74'|'76'|'86'|'96'|'100'|'854'|'108'|'132'|'116'|'120'|'124'|'136'|'140'|'148'|'152'|'156'|'162'|'166'|'170'|'174'|'178'|'180'|'184'|'188'|'384'|'191'|'192'|'531'|'196'|'203'|'208'|'262'|'212'|'214'|'218'|'818'|'222'|'226'|'232'|'233'|'748'|'231'|'238'|'234'|'242'|'246'|'250'|'254'|'258'|'260'|'266'|'270'|'268'|'276'|'288'|'292'|'300'|'304'|'308'|'312'|'316'|'320'|'831'|'324'|'624'|'328'|'332'|'334'|'336'|'340'|'344'|'348'|'352'|'356'|'360'|'364'|'368'|'372'|'833'|'376'|'380'|'388'|'392'|'832'|'400'|'398'|'404'|'296'|'408'|'410'|'414'|'417'|'418'|'428'|'422'|'426'|'430'|'434'|'438'|'440'|'442'|'446'|'450'|'454'|'458'|'462'|'466'|'470'|'584'|'474'|'478'|'480'|'175'|'484'|'583'|'498'|'492'|'496'|'499'|'500'|'504'|'508'|'104'|'516'|'520'|'524'|'528'|'540'|'554'|'558'|'562'|'566'|'570'|'574'|'807'|'580'|'578'|'512'|'586'|'585'|'275'|'591'|'598'|'600'|'604'|'608'|'612'|'616'|'620'|'630'|'634'|'638'|'642'|'643'|'646'|'652'|'654'|'659'|'662'|'663'|'666'|'670'|'882'|'674'|'678'|'682'|'686'|'688'|'690'|'694'|'702'|'534'|'703'|'705'|'90'|'706'|'710'|'239'|'728'|'724'|'144'|'729'|'740'|'744'|'752'|'756'|'760'|'158'|'762'|'834'|'764'|'626'|'768'|'772'|'776'|'780'|'788'|'792'|'795'|'796'|'798'|'800'|'804'|'784'|'826'|'840'|'581'|'858'|'860'|'548'|'862'|'704'|'92'|'850'|'876'|'732'|'887'|'894'|'716', tax_identification_number?: string}
 * @phpstan-type UpdateOnboardingDetailsBody array{account_purposes?: list<'PAY_BILLS'|'MONEY_TO_FROM_FAMILY'|'DIVIDENDS'|'SAVINGS'|'PERSONAL_BUSINESS_PURPOSES'|'PENSION'|'CRYPTO'|'SALARY'|'LOTTERY_GAMING'|'RECONCILIATION'|'VIRTUAL_ACCOUNT'|'CURRENCY_EXCHANGE'|'OTHER'>, account_purposes_input?: list<'PAY_BILLS'|'MONEY_TO_FROM_FAMILY'|'DIVIDENDS'|'SAVINGS'|'PERSONAL_BUSINESS_PURPOSES'|'PENSION'|'CRYPTO'|'SALARY'|'LOTTERY_GAMING'|'RECONCILIATION'|'VIRTUAL_ACCOUNT'|'CURRENCY_EXCHANGE'|'OTHER'>, expected_monthly_incoming_volume?: 'LESS_THAN1000'|'BETWEEN1001_AND5000'|'BETWEEN5001_AND10000'|'BETWEEN10001_AND15000'|'BETWEEN15001_AND30000'|'BETWEEN30001_AND60000'|'MORE_THAN60001', expected_monthly_outgoing_volume?: 'LESS_THAN1000'|'BETWEEN1001_AND5000'|'BETWEEN5001_AND10000'|'BETWEEN10001_AND15000'|'BETWEEN15001_AND30000'|'BETWEEN30001_AND60000'|'MORE_THAN60001', is_us_person?: bool, occupation?: 'BUSINESS_OWNER'|'CLERGY'|'CRAFTSMAN'|'ENGINEER'|'EXECUTIVE'|'FARMER'|'FREELANCE'|'LIBERAL_PROFESSION'|'POLITICIAN'|'PROFESSOR'|'PUBLIC_SERVANT'|'RETIRED'|'SHOPKEEPER'|'STUDENT'|'UNEMPLOYED'|'WORKER'|'OTHER', occupation_sector?: 'ACCOUNTING_AUDIT'|'E_MONEY_SERVICES'|'CURRENCY_EXCHANGE'|'TRADES_ON_OTC_MARKET'|'PRECIOUS_METALS_OR_STONES'|'PAWNSHOPS'|'CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS'|'MINING_EXTRACTIVE_INDUSTRIES'|'ENERGY'|'TRADE_IN_PETROL_PRODUCTS'|'TRADE_IN_MEDICINES'|'REAL_ESTATE'|'CONSTRUCTION_REPAIR'|'CONSULTANCY_LEGAL'|'FREELANCE'|'NON_PROFIT_LEGAL_ENTITIES'|'CRYPTOCURRENCIES'|'GAMING'|'GAMBLING'|'EU_FUNDS_UTILIZATION'|'ADULT'|'HIGH_VALUE_ASSET_DEALER'|'BANKING_LENDING'|'INSURANCE_SECURITY'|'TRANSPORTATION_AND_LOGISTICS'|'MANUFACTURING'|'UTILITIES_AND_INFRASTRUCTURE'|'TRADE_IN_FOOD_PRODUCT'|'WHOLESALE'|'REPAIR_OF_MOTOR_VEHICLES'|'SOCIAL_WORK_ACTIVITIES'|'AUTO_AVIATION'|'COURIER_POST_SERVICES'|'AGRICULTURE_FORESTRY_AND_FISHING'|'OTHER_TRADE_AND_SALES'|'TRAVEL_TOURISM'|'INFORMATION_AND_COMMUNICATION'|'PR_MARKETING'|'EDUCATION'|'INFORMATIONAL_TECHNOLOGIES'|'PUBLIC_AND_DEFENCE_SECTOR'|'HEALTH_CARE_MEDICAL_SERVICES'|'ART_ENTERTAINMENT_SPORT'|'ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES'|'HOSPITALITY_AND_LEISURE'|'SCIENTIFIC_AND_TECHNICAL_ACTIVITIES'|'OTHER', source_of_funds?: 'COMPENSATION_PAYOUT'|'COMPANY_PROFITS'|'COMPANY_SALE'|'DIVIDEND_PAYMENTS'|'DIVORCE_SETTLEMENT'|'FIXED_DEPOSITS'|'GIFT'|'INHERITANCE'|'INSURANCE_PAYOUT'|'LOAN'|'LOTTERY_OR_GAMBLING_WIN'|'RETIREMENT_INCOME'|'SALE_OF_INVESTMENT'|'SALE_OF_PROPERTY'|'SAVINGS_FROM_SALARY'|'OTHER', other_occupation?: string|null, other_source_of_funds?: string|null, funds_origin_country_id?: '4'|'248'|'8'|'12'|'16'|'20'|'24'|'660'|'10'|'28'|'32'|'51'|'533'|'36'|'40'|'31'|'44'|'48'|'50'|'52'|'112'|'56'|'84'|'204'|'60'|'64'|'68'|'535'|'70'|'72'|'74'|'76'|'86'|'96'|'100'|'854'|'108'|'132'|'116'|'120'|'124'|'136'|'140'|'148'|'152'|'156'|'162'|'166'|'170'|'174'|'178'|'180'|'184'|'188'|'384'|'191'|'192'|'531'|'196'|'203'|'208'|'262'|'212'|'214'|'218'|'818'|'222'|'226'|'232'|'233'|'748'|'231'|'238'|'234'|'242'|'246'|'250'|'254'|'258'|'260'|'266'|'270'|'268'|'276'|'288'|'292'|'300'|'304'|'308'|'312'|'316'|'320'|'831'|'324'|'624'|'328'|'332'|'334'|'336'|'340'|'344'|'348'|'352'|'356'|'360'|'364'|'368'|'372'|'833'|'376'|'380'|'388'|'392'|'832'|'400'|'398'|'404'|'296'|'408'|'410'|'414'|'417'|'418'|'428'|'422'|'426'|'430'|'434'|'438'|'440'|'442'|'446'|'450'|'454'|'458'|'462'|'466'|'470'|'584'|'474'|'478'|'480'|'175'|'484'|'583'|'498'|'492'|'496'|'499'|'500'|'504'|'508'|'104'|'516'|'520'|'524'|'528'|'540'|'554'|'558'|'562'|'566'|'570'|'574'|'807'|'580'|'578'|'512'|'586'|'585'|'275'|'591'|'598'|'600'|'604'|'608'|'612'|'616'|'620'|'630'|'634'|'638'|'642'|'643'|'646'|'652'|'654'|'659'|'662'|'663'|'666'|'670'|'882'|'674'|'678'|'682'|'686'|'688'|'690'|'694'|'702'|'534'|'703'|'705'|'90'|'706'|'710'|'239'|'728'|'724'|'144'|'729'|'740'|'744'|'752'|'756'|'760'|'158'|'762'|'834'|'764'|'626'|'768'|'772'|'776'|'780'|'788'|'792'|'795'|'796'|'798'|'800'|'804'|'784'|'826'|'840'|'581'|'858'|'860'|'548'|'862'|'704'|'92'|'850'|'876'|'732'|'887'|'894'|'716'|null, tax_identification_number?: string|null}
 * @phpstan-type OnboardingStatus array{id: string, client_id: string, current_step: 'DETAILS_PENDING'|'KYC_PENDING'|'KYC_PROCESSING'|'KYC_UNDER_REVIEW'|'KYC_DECLINED'|'PENDING_APPROVAL'|'APPROVED', kyc_status: 'NOT_STARTED'|'CREATED'|'PROCESSING'|'ABORTED'|'PENDING_REVIEW'|'VALIDATED'|'DECLINED', overall_status: 'IN_PROGRESS'|'UNDER_REVIEW'|'DECLINED'|'APPROVED', kyc_application_id?: string, kyc_link?: string, created_at: string, updated_at: string}
 * @phpstan-type Beneficiary array{id: string, client_id: string, beneficiary_type: 'PERSON'|'COMPANY', name: string, display: bool, created_at: string, updated_at: string, account_number?: string, iban?: string, bic?: string, swift_code?: string, routing_number?: string, bank_name?: string, bank_address?: string, address?: string, city?: string, postal_code?: string, country_code?: string}
 * @phpstan-type CreateBeneficiaryBody array{client_id: string, beneficiary_type?: 'PERSON'|'COMPANY', name: string, display?: bool, account_number?: string|null, iban?: string|null, bic?: string|null, swift_code?: string|null, routing_number?: string|null, bank_name?: string|null, bank_address?: string|null, address?: string|null, city?: string|null, postal_code?: string|null, country_code?: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE'|null}
 * @phpstan-type ListBeneficiariesQuery array{limit?: int, offset?: int, client_id?: string, beneficiary_type?: 'PERSON'|'COMPANY', country_code?: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE', display?: bool, search?: string}
 * @phpstan-type UpdateBeneficiaryBody array{beneficiary_type?: 'PERSON'|'COMPANY', name?: string, display?: bool, account_number?: string|null, iban?: string|null, bic?: string|null, swift_code?: string|null, routing_number?: string|null, bank_name?: string|null, bank_address?: string|null, address?: string|null, city?: string|null, postal_code?: string|null, country_code?: 'AFG'|'ALA'|'ALB'|'DZA'|'ASM'|'AND'|'AGO'|'AIA'|'ATA'|'ATG'|'ARG'|'ARM'|'ABW'|'AUS'|'AUT'|'AZE'|'BHS'|'BHR'|'BGD'|'BRB'|'BLR'|'BEL'|'BLZ'|'BEN'|'BMU'|'BTN'|'BOL'|'BES'|'BIH'|'BWA'|'BVT'|'BRA'|'IOT'|'BRN'|'BGR'|'BFA'|'BDI'|'CPV'|'KHM'|'CMR'|'CAN'|'CYM'|'CAF'|'TCD'|'CHL'|'CHN'|'CXR'|'CCK'|'COL'|'COM'|'COG'|'COD'|'COK'|'CRI'|'CIV'|'HRV'|'CUB'|'CUW'|'CYP'|'CZE'|'DNK'|'DJI'|'DMA'|'DOM'|'ECU'|'EGY'|'SLV'|'GNQ'|'ERI'|'EST'|'SWZ'|'ETH'|'FLK'|'FRO'|'FJI'|'FIN'|'FRA'|'GUF'|'PYF'|'ATF'|'GAB'|'GMB'|'GEO'|'DEU'|'GHA'|'GIB'|'GRC'|'GRL'|'GRD'|'GLP'|'GUM'|'GTM'|'GGY'|'GIN'|'GNB'|'GUY'|'HTI'|'HMD'|'VAT'|'HND'|'HKG'|'HUN'|'ISL'|'IND'|'IDN'|'IRN'|'IRQ'|'IRL'|'IMN'|'ISR'|'ITA'|'JAM'|'JPN'|'JEY'|'JOR'|'KAZ'|'KEN'|'KIR'|'PRK'|'KOR'|'KWT'|'KGZ'|'LAO'|'LVA'|'LBN'|'LSO'|'LBR'|'LBY'|'LIE'|'LTU'|'LUX'|'MAC'|'MDG'|'MWI'|'MYS'|'MDV'|'MLI'|'MLT'|'MHL'|'MTQ'|'MRT'|'MUS'|'MYT'|'MEX'|'FSM'|'MDA'|'MCO'|'MNG'|'MNE'|'MSR'|'MAR'|'MOZ'|'MMR'|'NAM'|'NRU'|'NPL'|'NLD'|'NCL'|'NZL'|'NIC'|'NER'|'NGA'|'NIU'|'NFK'|'MKD'|'MNP'|'NOR'|'OMN'|'PAK'|'PLW'|'PSE'|'PAN'|'PNG'|'PRY'|'PER'|'PHL'|'PCN'|'POL'|'PRT'|'PRI'|'QAT'|'REU'|'ROU'|'RUS'|'RWA'|'BLM'|'SHN'|'KNA'|'LCA'|'MAF'|'SPM'|'VCT'|'WSM'|'SMR'|'STP'|'SAU'|'SEN'|'SRB'|'SYC'|'SLE'|'SGP'|'SXM'|'SVK'|'SVN'|'SLB'|'SOM'|'ZAF'|'SGS'|'SSD'|'ESP'|'LKA'|'SDN'|'SUR'|'SJM'|'SWE'|'CHE'|'SYR'|'TWN'|'TJK'|'TZA'|'THA'|'TLS'|'TGO'|'TKL'|'TON'|'TTO'|'TUN'|'TUR'|'TKM'|'TCA'|'TUV'|'UGA'|'UKR'|'ARE'|'GBR'|'USA'|'UMI'|'URY'|'UZB'|'VUT'|'VEN'|'VNM'|'VGB'|'VIR'|'WLF'|'ESH'|'YEM'|'ZMB'|'ZWE'|null}
 * @phpstan-type Account array{id: string, client_id: string, account_name: string, account_number: string, account_type: 'CURRENT'|'SAVINGS'|'ESCROW', currency: string, current_balance: string, available_balance: string, reserved_balance: string, status: 'PENDING'|'ACTIVE'|'SUSPENDED'|'CLOSED', opened_date: string, created_at: string, updated_at: string, closed_date?: string, last_activity_date?: string, daily_limit?: string, monthly_limit?: string, yearly_limit?: string, description?: string, external_account_id?: string}
 * @phpstan-type OpenAccountBody array{client_id: string, account_type: 'CURRENT'|'SAVINGS'|'ESCROW', account_name: string, currency: string, daily_limit?: string, monthly_limit?: string, yearly_limit?: string, description?: string, external_account_id?: string}
 * @phpstan-type ListAccountsQuery array{limit?: int, offset?: int, client_id?: string, account_type?: 'CURRENT'|'SAVINGS'|'ESCROW', status?: 'PENDING'|'ACTIVE'|'SUSPENDED'|'CLOSED', currency?: string, search?: string}
 * @phpstan-type UpdateAccountBody array{account_name?: string, daily_limit?: string|null, monthly_limit?: string|null, yearly_limit?: string|null, description?: string|null, external_account_id?: string|null}
 * @phpstan-type CreateWebhookEndpointResult array{id: string, business_id: string, url: string, status: 'ACTIVE'|'DISABLED', events: list<string>, created_at: string, secret?: string}
 * @phpstan-type CreateWebhookEndpointBody array{url: string, events?: list<'KYC_COMPLETED'|'KYC_REJECTED'|'KYC_NEEDS_REVIEW'|'KYC_REVIEW_RESOLVED'|'KYC_FAILED'|'KYC_EXPIRED'|'KYC_CANCELED'|'KYC_DOCUMENT_EXPIRING'|'KYC_DOCUMENT_EXPIRED'|'PAYMENT_COMPLETED'|'PAYMENT_REFUSED'|'PAYMENT_FAILED'|'PAYMENT_CANCELED'|'PAYMENT_EXPIRED'|'PAYMENT_REFUNDED'|'WEBHOOK_ENDPOINT_DISABLED'>}
 * @phpstan-type ListWebhookEndpointsItem array{id: string, business_id: string, url: string, status: 'ACTIVE'|'DISABLED', events: list<string>, created_at: string, updated_at: string}
 * @phpstan-type ListWebhookEndpointsQuery array{limit?: int, offset?: int}
 * @phpstan-type WebhookEndpoint array{id: string, business_id: string, url: string, status: 'ACTIVE'|'DISABLED', events: list<string>, created_at: string, updated_at: string, health?: WebhookEndpointHealth}
 * @phpstan-type WebhookEndpointHealth array{failing_since?: string, success_rate_1h?: float, success_rate_24h?: float, last_error?: string, p95_ms_24h?: int}
 * @phpstan-type UpdateWebhookEndpointResult array{id: string, business_id: string, url: string, status: 'ACTIVE'|'DISABLED', events: list<string>, updated_at: string, secret?: string}
 * @phpstan-type UpdateWebhookEndpointBody array{url?: string, rotate_secret?: bool, activate_in_seconds?: int, status?: 'ACTIVE'|'DISABLED', events?: list<'KYC_COMPLETED'|'KYC_REJECTED'|'KYC_NEEDS_REVIEW'|'KYC_REVIEW_RESOLVED'|'KYC_FAILED'|'KYC_EXPIRED'|'KYC_CANCELED'|'KYC_DOCUMENT_EXPIRING'|'KYC_DOCUMENT_EXPIRED'|'PAYMENT_COMPLETED'|'PAYMENT_REFUSED'|'PAYMENT_FAILED'|'PAYMENT_CANCELED'|'PAYMENT_EXPIRED'|'PAYMENT_REFUNDED'|'WEBHOOK_ENDPOINT_DISABLED'>|null}
 * @phpstan-type TestWebhookEndpointResult array{id: string, type: string, created_at: string, body: array<string, mixed>, delivery: Delivery}
 * @phpstan-type Delivery array{id: string, endpoint_id: string, status: 'pending'|'succeeded'|'failed'|'skipped', next_attempt_at?: string, attempts: list<DeliveryAttempts>}
 * @phpstan-type DeliveryAttempts array{at: string, status_code?: int, error?: 'timeout'|'dns_error'|'connection_refused'|'connection_reset'|'tls_error'|'address_forbidden'|'invalid_response'|'secret_unreadable', detail?: string, duration_ms: int, response?: string}
 * @phpstan-type CheckWebhookEndpointResult array{checks: list<CheckWebhookEndpointResultChecks>}
 * @phpstan-type CheckWebhookEndpointResultChecks array{name: 'good'|'forged_signature'|'duplicate'|'old_timestamp', passed: bool, detail: string}
 * @phpstan-type WebhookReplay array{id: string, status: 'RUNNING'|'DONE', matched: int, sent: int}
 * @phpstan-type ReplayWebhookEndpointBody array{since: string, until?: string, types?: list<'KYC_COMPLETED'|'KYC_REJECTED'|'KYC_NEEDS_REVIEW'|'KYC_REVIEW_RESOLVED'|'KYC_FAILED'|'KYC_EXPIRED'|'KYC_CANCELED'|'KYC_DOCUMENT_EXPIRING'|'KYC_DOCUMENT_EXPIRED'|'PAYMENT_COMPLETED'|'PAYMENT_REFUSED'|'PAYMENT_FAILED'|'PAYMENT_CANCELED'|'PAYMENT_EXPIRED'|'PAYMENT_REFUNDED'|'WEBHOOK_ENDPOINT_DISABLED'|'WEBHOOK_TEST'>, statuses?: list<'pending'|'succeeded'|'failed'|'skipped'>}
 * @phpstan-type Event array{id: string, type: string, created_at: string, body: array<string, mixed>}
 * @phpstan-type ListEventsQuery array{limit?: int, offset?: int, type?: 'KYC_COMPLETED'|'KYC_REJECTED'|'KYC_NEEDS_REVIEW'|'KYC_REVIEW_RESOLVED'|'KYC_FAILED'|'KYC_EXPIRED'|'KYC_CANCELED'|'KYC_DOCUMENT_EXPIRING'|'KYC_DOCUMENT_EXPIRED'|'PAYMENT_COMPLETED'|'PAYMENT_REFUSED'|'PAYMENT_FAILED'|'PAYMENT_CANCELED'|'PAYMENT_EXPIRED'|'PAYMENT_REFUNDED'|'WEBHOOK_ENDPOINT_DISABLED'|'WEBHOOK_TEST', from?: string, to?: string}
 * @phpstan-type RedeliverEventBody array{endpoint_id?: string}
 * @phpstan-type OnboardBusinessResult array{id: string, name: string, status: 'PENDING'|'ACTIVE'|'DISABLED'|'REJECTED', created_at: string, updated_at: string, contact_email?: string, api_key?: string, api_key_prefix?: string}
 * @phpstan-type OnboardBusinessBody array{name: string, contact_email: string}
 * @phpstan-type OwnBusiness array{id: string, name: string, status: 'PENDING'|'ACTIVE'|'DISABLED'|'REJECTED', created_at: string, updated_at: string, api_key_prefix?: string}
 * @phpstan-type UpdateOwnBusinessResult array{id: string, name: string, status: 'PENDING'|'ACTIVE'|'DISABLED'|'REJECTED', updated_at: string, api_key?: string, api_key_prefix?: string}
 * @phpstan-type UpdateOwnBusinessBody array{name?: string, rotate_api_key?: bool, previous_key_ttl_seconds?: int}
 * @phpstan-type OwnApiKey array{id: string, name: string, prefix: string, created_at: string, last_used_at?: string, expires_at?: string, allowed_ips?: list<string>, revoked_at?: string}
 * @phpstan-type CreateOwnApiKeyResult array{id: string, name: string, api_key?: string, prefix: string, created_at: string, expires_at?: string, allowed_ips?: list<string>}
 * @phpstan-type CreateOwnApiKeyBody array{name: string, expires_at?: string, allowed_ips?: list<string>}
 * @phpstan-type RevokeOwnApiKeyResult array{id: string, name: string, prefix: string, revoked_at?: string}
 * @phpstan-type RevokeOwnApiKeyBody array{reason?: string}
 * @phpstan-type Business array{id: string, name: string, status: 'PENDING'|'ACTIVE'|'DISABLED'|'REJECTED', created_at: string, updated_at: string, organization_id: int, contact_email?: string, api_key?: string, api_key_prefix?: string}
 * @phpstan-type CreateBusinessBody array{name: string, status?: 'ACTIVE'|'PENDING'}
 * @phpstan-type ListBusinessesQuery array{limit?: int, offset?: int, status?: 'PENDING'|'ACTIVE'|'DISABLED'|'REJECTED', search?: string}
 * @phpstan-type UpdateBusinessBody array{name?: string, status?: 'PENDING'|'ACTIVE'|'DISABLED'|'REJECTED', rotate_api_key?: bool}
 * @phpstan-type ReviewKycApplicationResult array{id: string, created_at: string, link_expires_at: string, status: 'CREATED'|'OPENED'|'SUBMITTED'|'PROCESSING'|'COMPLETED'|'EXPIRED'|'CANCELED'|'FAILED', synced_at: string, aml_hit_count: int, reason_codes: list<KycApplicationReasonCodes>, attempts_used: int, attempts_remaining: int, client_id?: string, external_id?: string, verdict?: 'APPROVED'|'NEEDS_REVIEW'|'REJECTED', completed_at?: string, decision_summary?: string, document_type?: 'id_card'|'passport', document_expiry?: string, nationality?: string, liveness_outcome?: string, face_match_outcome?: string, aml_decision?: string, error_message?: string, metadata: array<string, mixed>}
 * @phpstan-type ReviewKycApplicationBody array{outcome: 'APPROVED'|'REJECTED', note: string}
 * @phpstan-type ApproveOnboardingBody array{reason?: string}
 * @phpstan-type CreateApiKeyResult array{id: string, business_id: string, name: string, api_key?: string, api_key_prefix: string, created_at: string, expires_at?: string, allowed_ips?: list<string>}
 * @phpstan-type CreateApiKeyBody array{business_id: string, name: string, expires_at?: string, allowed_ips?: list<string>}
 * @phpstan-type ApiKey array{id: string, business_id: string, name: string, api_key_prefix: string, created_at: string, last_used_at?: string, expires_at?: string, allowed_ips?: list<string>, revoked_at?: string}
 * @phpstan-type ListApiKeysQuery array{limit?: int, offset?: int, business_id?: string}
 * @phpstan-type RevokeApiKeyResult array{id: string, business_id: string, name: string, api_key_prefix: string, revoked_at?: string}
 * @phpstan-type CreateOperatorKeyResult array{id: string, name: string, admin_key?: string, admin_key_prefix: string, created_at: string}
 * @phpstan-type CreateOperatorKeyBody array{name: string}
 * @phpstan-type OperatorKey array{id: string, name: string, admin_key_prefix: string, created_at: string, last_used_at?: string, revoked_at?: string}
 * @phpstan-type CreateInvitationResult array{id: string, name: string, invitation_token?: string, token_prefix: string, created_at: string, expires_at: string}
 * @phpstan-type CreateInvitationBody array{name: string, expires_at?: string}
 * @phpstan-type Invitation array{id: string, name: string, token_prefix: string, created_at: string, expires_at: string, used_at?: string, business_id?: string, revoked_at?: string}
 * @phpstan-type Refund array{id: string, business_id: string, payment_id: string, amount: string, currency: string, status: 'REQUESTED'|'SENT'|'ACCEPTED'|'REJECTED'|'UNKNOWN'|'NOT_SENT', needs_decision: bool, decision_reason?: string, needs_decision_since?: string, resolution?: 'ACCEPTED'|'REJECTED'|'SEND_AGAIN', sends: int, last_sent_at?: string, processor_error_code?: string, payment_status: string, payment_amount: string, payment_refunded_amount?: string, processor: RefundProcessor, created_at: string, updated_at: string}
 * @phpstan-type RefundProcessor array{order_id?: string, order_number: string, order_status?: int, refunded_amount?: string, read_at?: string}
 * @phpstan-type ListRefundsQuery array{limit?: int, offset?: int, needs_decision?: bool}
 * @phpstan-type ResolveRefundBody array{outcome: 'ACCEPTED'|'REJECTED'|'SEND_AGAIN', note: string}
 * @phpstan-type PaymentTimeline array{payment: Payment, entries: list<PaymentTimelineEntries>, missing?: list<'events'>, truncated?: list<'processor_calls'|'events'>}
 * @phpstan-type PaymentTimelineEntries array{at: string, kind: 'payment'|'processor_call'|'refund'|'event'|'delivery_attempt'|'next_attempt', name: string, outcome?: string, detail?: string, duration_ms?: int, refund_id?: string, event_id?: string, endpoint_id?: string}
 * @phpstan-type ListChangedPaymentsItem array{id: string, business_id: string, amount: string, currency: string, status: 'PENDING'|'PAID'|'FAILED'|'REFUSED'|'CANCELED'|'REFUNDED'|'EXPIRED', language: string, success_url: string, fail_url: string, processor_order_number: string, created_at: string, updated_at: string, paid_at?: string, action_code?: string, action_code_description?: string, approval_code?: string, card_brand?: string, description?: string, form_url?: string, masked_pan?: string, order_ref?: string, resp_code?: string, resp_code_desc?: string, processor_error_code?: string, processor_order_id?: string, processor_order_status?: int, refunded_amount?: string, origin?: string, difference?: string, processor: RefundProcessor}
 * @phpstan-type ListChangedPaymentsQuery array{limit?: int, offset?: int, origin?: 'PROCESSOR'}
 * @phpstan-type AuditEvent array{id: string, at: string, actor: string, actor_key_id?: string, actor_name?: string, action: string, entity: AuditEventEntity, business_id?: string, before?: array<string, mixed>, after?: array<string, mixed>, reason?: string, request_id: string, address: string}
 * @phpstan-type AuditEventEntity array{type: string, id: string}
 * @phpstan-type ListAuditEventsQuery array{limit?: int, offset?: int, business_id?: string, action?: string, entity_id?: string, from?: string, to?: string}
 * @phpstan-type ListDeadLettersItem array{id: string, service: string, topic: string, event_id: string, event_type: string, key: string, status: 'RETRYING'|'WAITING'|'PARKED'|'FORGED'|'DELIVERED'|'DROPPED', reason: string, attempts: int, next_attempt_at?: string, headers: array<string, mixed>, payload_bytes: int, created_at: string, updated_at: string}
 * @phpstan-type ListDeadLettersQuery array{limit?: int, offset?: int, service?: 'webhooks'|'clients'|'identity', topic?: string, status?: 'RETRYING'|'WAITING'|'PARKED'|'FORGED'|'DELIVERED'|'DROPPED'}
 * @phpstan-type DeadLetter array{id: string, service: string, topic: string, event_id: string, event_type: string, key: string, status: 'RETRYING'|'WAITING'|'PARKED'|'FORGED'|'DELIVERED'|'DROPPED', reason: string, attempts: int, next_attempt_at?: string, headers: array<string, mixed>, payload_bytes: int, payload?: array<string, mixed>, created_at: string, updated_at: string}
 * @phpstan-type DropDeadLetterBody array{note: string}
 */
final class Amana
{
    public readonly Accounts $accounts;
    public readonly ApiKeys $apiKeys;
    public readonly AuditEvents $auditEvents;
    public readonly Beneficiaries $beneficiaries;
    public readonly Businesses $businesses;
    public readonly Clients $clients;
    public readonly DeadLetters $deadLetters;
    public readonly Events $events;
    public readonly Invitations $invitations;
    public readonly KycApplications $kycApplications;
    public readonly Me $me;
    public readonly Onboarding $onboarding;
    public readonly OperatorKeys $operatorKeys;
    public readonly Payments $payments;
    public readonly Refunds $refunds;
    public readonly WebhookEndpoints $webhookEndpoints;

    /**
     * $timeout: of one attempt, in seconds. The API itself takes up to 40, so less gives up on what
     * succeeds. $retries: attempts after the first. $retryPause: before the second, then doubled.
     * $allowHttp: permits an http:// address of another machine, to which the key is sent
     * unencrypted.
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] string $apiKey,
        float $timeout = 45,
        int $retries = 3,
        float $retryPause = 1,
        bool $allowHttp = false,
    ) {
        $transport = new Transport($baseUrl, $apiKey, $timeout, $retries, $retryPause, $allowHttp);
        $this->accounts = new Accounts($transport);
        $this->apiKeys = new ApiKeys($transport);
        $this->auditEvents = new AuditEvents($transport);
        $this->beneficiaries = new Beneficiaries($transport);
        $this->businesses = new Businesses($transport);
        $this->clients = new Clients($transport);
        $this->deadLetters = new DeadLetters($transport);
        $this->events = new Events($transport);
        $this->invitations = new Invitations($transport);
        $this->kycApplications = new KycApplications($transport);
        $this->me = new Me($transport);
        $this->onboarding = new Onboarding($transport);
        $this->operatorKeys = new OperatorKeys($transport);
        $this->payments = new Payments($transport);
        $this->refunds = new Refunds($transport);
        $this->webhookEndpoints = new WebhookEndpoints($transport);
    }
}

final class Accounts extends Resource
{
    /**
     * Open an account.
     *
     * @param OpenAccountBody $body
     * @return Account
     */
    public function open(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/accounts', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List accounts.
     *
     * @param ListAccountsQuery $query
     * @return Pages of Account
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/accounts', $query);
    }

    /**
     * Get an account.
     *
     * @return Account
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/accounts/' . Transport::segment($id));
    }

    /**
     * Update an account.
     *
     * @param UpdateAccountBody|null $body
     * @return Account
     */
    public function update(string $id, ?array $body = null): array
    {
        return $this->call('PATCH', '/api/v1/accounts/' . Transport::segment($id), $body);
    }

    /**
     * Activate an account.
     *
     * @return Account
     */
    public function activate(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/accounts/' . Transport::segment($id) . '/activate', idempotencyKey: $idempotencyKey);
    }

    /**
     * Suspend an account.
     *
     * @return Account
     */
    public function suspend(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/accounts/' . Transport::segment($id) . '/suspend', idempotencyKey: $idempotencyKey);
    }

    /**
     * Reactivate an account.
     *
     * @return Account
     */
    public function reactivate(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/accounts/' . Transport::segment($id) . '/reactivate', idempotencyKey: $idempotencyKey);
    }

    /**
     * Close an account.
     *
     * @return Account
     */
    public function close(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/accounts/' . Transport::segment($id) . '/close', idempotencyKey: $idempotencyKey);
    }
}

final class ApiKeys extends Resource
{
    /**
     * Issue an API key.
     *
     * @param CreateApiKeyBody $body
     * @return CreateApiKeyResult
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/api-keys', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List API keys.
     *
     * @param ListApiKeysQuery $query
     * @return Pages of ApiKey
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/admin/api-keys', $query);
    }

    /**
     * Revoke an API key.
     *
     * @param RevokeOwnApiKeyBody|null $body
     * @return RevokeApiKeyResult
     */
    public function revoke(string $id, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/api-keys/' . Transport::segment($id) . '/revoke', $body, idempotencyKey: $idempotencyKey);
    }
}

final class AuditEvents extends Resource
{
    /**
     * List audit events.
     *
     * @param ListAuditEventsQuery $query
     * @return Pages of AuditEvent
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/admin/audit-events', $query);
    }
}

final class Beneficiaries extends Resource
{
    /**
     * Create a beneficiary.
     *
     * @param CreateBeneficiaryBody $body
     * @return Beneficiary
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/beneficiaries', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List beneficiaries.
     *
     * @param ListBeneficiariesQuery $query
     * @return Pages of Beneficiary
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/beneficiaries', $query);
    }

    /**
     * Get a beneficiary.
     *
     * @return Beneficiary
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/beneficiaries/' . Transport::segment($id));
    }

    /**
     * Update a beneficiary.
     *
     * @param UpdateBeneficiaryBody|null $body
     * @return Beneficiary
     */
    public function update(string $id, ?array $body = null): array
    {
        return $this->call('PUT', '/api/v1/beneficiaries/' . Transport::segment($id), $body);
    }
}

final class Businesses extends Resource
{
    /**
     * Register your business.
     *
     * @param OnboardBusinessBody $body
     * @return OnboardBusinessResult
     */
    public function onboard(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/onboarding/businesses', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * Create a business.
     *
     * @param CreateBusinessBody $body
     * @return Business
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/businesses', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List businesses.
     *
     * @param ListBusinessesQuery $query
     * @return Pages of Business
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/businesses', $query);
    }

    /**
     * Get a business.
     *
     * @return Business
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/businesses/' . Transport::segment($id));
    }

    /**
     * Update a business.
     *
     * @param UpdateBusinessBody|null $body
     * @return UpdateOwnBusinessResult
     */
    public function update(string $id, ?array $body = null): array
    {
        return $this->call('PATCH', '/api/v1/businesses/' . Transport::segment($id), $body);
    }
}

final class Clients extends Resource
{
    /**
     * Create a client.
     *
     * @param CreatePersonBody $body
     * @return Client
     */
    public function createPerson(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/clients/person', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List clients.
     *
     * @param ListClientsQuery $query
     * @return Pages of Client
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/clients', $query);
    }

    /**
     * Get a client.
     *
     * @return Client
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/clients/' . Transport::segment($id));
    }

    /**
     * Get a person.
     *
     * @return Client
     */
    public function getPerson(string $id): array
    {
        return $this->call('GET', '/api/v1/clients/person/' . Transport::segment($id));
    }

    /**
     * Update a client.
     *
     * @param UpdatePersonBody|null $body
     * @return Client
     */
    public function updatePerson(string $id, ?array $body = null): array
    {
        return $this->call('PUT', '/api/v1/clients/person/' . Transport::segment($id), $body);
    }
}

final class DeadLetters extends Resource
{
    /**
     * List dead letters.
     *
     * @param ListDeadLettersQuery $query
     * @return Pages of ListDeadLettersItem
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/admin/dead-letters', $query);
    }

    /**
     * Get a dead letter.
     *
     * @return DeadLetter
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/admin/dead-letters/' . Transport::segment($id));
    }

    /**
     * Retry a dead letter.
     *
     * @return DeadLetter
     */
    public function retry(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/dead-letters/' . Transport::segment($id) . '/retry', idempotencyKey: $idempotencyKey);
    }

    /**
     * Drop a dead letter.
     *
     * @param DropDeadLetterBody $body
     * @return DeadLetter
     */
    public function drop(string $id, array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/dead-letters/' . Transport::segment($id) . '/drop', $body, idempotencyKey: $idempotencyKey);
    }
}

final class Events extends Resource
{
    /**
     * List events.
     *
     * @param ListEventsQuery $query
     * @return Pages of Event
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/events', $query);
    }

    /**
     * Get an event.
     *
     * @return Event
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/events/' . Transport::segment($id));
    }

    /**
     * List deliveries of an event.
     *
     * @param ListWebhookEndpointsQuery $query
     * @return Pages of Delivery
     */
    public function listDeliveries(string $id, array $query = []): Pages
    {
        return $this->pages('/api/v1/events/' . Transport::segment($id) . '/deliveries', $query);
    }

    /**
     * Redeliver an event.
     *
     * @param RedeliverEventBody|null $body
     * @return list<Delivery>
     */
    public function redeliver(string $id, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/events/' . Transport::segment($id) . '/redeliver', $body, idempotencyKey: $idempotencyKey);
    }
}

final class Invitations extends Resource
{
    /**
     * Create an invitation.
     *
     * @param CreateInvitationBody $body
     * @return CreateInvitationResult
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/invitations', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List invitations.
     *
     * @param ListWebhookEndpointsQuery $query
     * @return Pages of Invitation
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/admin/invitations', $query);
    }

    /**
     * Revoke an invitation.
     *
     * @return Invitation
     */
    public function revoke(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/invitations/' . Transport::segment($id) . '/revoke', idempotencyKey: $idempotencyKey);
    }
}

final class KycApplications extends Resource
{
    /**
     * Create a KYC application.
     *
     * @param CreateKycApplicationBody|null $body
     * @return CreateKycApplicationResult
     */
    public function create(?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/kyc/applications', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List KYC applications.
     *
     * @param ListKycApplicationsQuery $query
     * @return Pages of KycApplication
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/kyc/applications', $query);
    }

    /**
     * Get a KYC application.
     *
     * @return KycApplication
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/kyc/applications/' . Transport::segment($id));
    }

    /**
     * Cancel a KYC application.
     *
     * @return KycApplication
     */
    public function cancel(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/kyc/applications/' . Transport::segment($id) . '/cancel', idempotencyKey: $idempotencyKey);
    }

    /**
     * Review a KYC application.
     *
     * @param ReviewKycApplicationBody $body
     * @return ReviewKycApplicationResult
     */
    public function review(string $id, array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/kyc/applications/' . Transport::segment($id) . '/review', $body, idempotencyKey: $idempotencyKey);
    }
}

final class Me extends Resource
{
    /**
     * Get your business.
     *
     * @return OwnBusiness
     */
    public function get(): array
    {
        return $this->call('GET', '/api/v1/me');
    }

    /**
     * Update your business.
     *
     * @param UpdateOwnBusinessBody|null $body
     * @return UpdateOwnBusinessResult
     */
    public function update(?array $body = null): array
    {
        return $this->call('PATCH', '/api/v1/me', $body);
    }

    /**
     * List your API keys.
     *
     * @param ListWebhookEndpointsQuery $query
     * @return Pages of OwnApiKey
     */
    public function listApiKeys(array $query = []): Pages
    {
        return $this->pages('/api/v1/me/api-keys', $query);
    }

    /**
     * Issue an API key.
     *
     * @param CreateOwnApiKeyBody $body
     * @return CreateOwnApiKeyResult
     */
    public function createApiKey(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/me/api-keys', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * Revoke an API key.
     *
     * @param RevokeOwnApiKeyBody|null $body
     * @return RevokeOwnApiKeyResult
     */
    public function revokeApiKey(string $id, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/me/api-keys/' . Transport::segment($id) . '/revoke', $body, idempotencyKey: $idempotencyKey);
    }
}

final class Onboarding extends Resource
{
    /**
     * Create onboarding details.
     *
     * @param CreateOnboardingDetailsBody $body
     * @return OnboardingDetails
     */
    public function createDetails(string $id, array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/clients/' . Transport::segment($id) . '/onboarding/details', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * Get onboarding details.
     *
     * @return OnboardingDetails
     */
    public function getDetails(string $id): array
    {
        return $this->call('GET', '/api/v1/clients/' . Transport::segment($id) . '/onboarding/details');
    }

    /**
     * Update onboarding details.
     *
     * @param UpdateOnboardingDetailsBody|null $body
     * @return OnboardingDetails
     */
    public function updateDetails(string $id, ?array $body = null): array
    {
        return $this->call('PATCH', '/api/v1/clients/' . Transport::segment($id) . '/onboarding/details', $body);
    }

    /**
     * Get the onboarding status.
     *
     * @return OnboardingStatus
     */
    public function getStatus(string $id): array
    {
        return $this->call('GET', '/api/v1/clients/' . Transport::segment($id) . '/onboarding/status');
    }

    /**
     * Approve an onboarding.
     *
     * @param ApproveOnboardingBody|null $body
     * @return OnboardingStatus
     */
    public function approve(string $id, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/clients/' . Transport::segment($id) . '/onboarding/approve', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * Decline an onboarding.
     *
     * @param ApproveOnboardingBody|null $body
     * @return OnboardingStatus
     */
    public function decline(string $id, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/clients/' . Transport::segment($id) . '/onboarding/decline', $body, idempotencyKey: $idempotencyKey);
    }
}

final class OperatorKeys extends Resource
{
    /**
     * Issue an operator key.
     *
     * @param CreateOperatorKeyBody $body
     * @return CreateOperatorKeyResult
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/operator-keys', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List operator keys.
     *
     * @param ListWebhookEndpointsQuery $query
     * @return Pages of OperatorKey
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/admin/operator-keys', $query);
    }

    /**
     * Revoke an operator key.
     *
     * @param RevokeOwnApiKeyBody|null $body
     * @return OperatorKey
     */
    public function revoke(string $id, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/operator-keys/' . Transport::segment($id) . '/revoke', $body, idempotencyKey: $idempotencyKey);
    }
}

final class Payments extends Resource
{
    /**
     * Create a payment.
     *
     * @param CreatePaymentBody $body
     * @return Payment
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/payments', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List payments.
     *
     * @param ListPaymentsQuery $query
     * @return Pages of Payment
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/payments', $query);
    }

    /**
     * Get a payment.
     *
     * @return Payment
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/payments/' . Transport::segment($id));
    }

    /**
     * Refresh a payment.
     *
     * @return Payment
     */
    public function refresh(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/payments/' . Transport::segment($id) . '/refresh', idempotencyKey: $idempotencyKey);
    }

    /**
     * Return from the card processor.
     *
     * @return array{location: string}
     */
    public function followReturn(string $token): array
    {
        return $this->redirect('GET', '/api/v1/payments/return/' . Transport::segment($token));
    }

    /**
     * Return from the card processor (form POST).
     *
     * @return array{location: string}
     */
    public function followReturnByForm(string $token): array
    {
        return $this->redirect('POST', '/api/v1/payments/return/' . Transport::segment($token));
    }

    /**
     * Refund a payment.
     *
     * @param RefundPaymentBody|null $body
     * @return Payment
     */
    public function refund(string $id, ?array $body = null, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/payments/' . Transport::segment($id) . '/refund', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * Get the timeline of a payment.
     *
     * @return PaymentTimeline
     */
    public function getTimeline(string $id): array
    {
        return $this->call('GET', '/api/v1/admin/payments/' . Transport::segment($id) . '/timeline');
    }

    /**
     * List externally changed payments.
     *
     * @param ListChangedPaymentsQuery $query
     * @return Pages of ListChangedPaymentsItem
     */
    public function listChanged(array $query = []): Pages
    {
        return $this->pages('/api/v1/admin/payments', $query);
    }
}

final class Refunds extends Resource
{
    /**
     * List refunds.
     *
     * @param ListRefundsQuery $query
     * @return Pages of Refund
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/admin/refunds', $query);
    }

    /**
     * Resolve a refund.
     *
     * @param ResolveRefundBody $body
     * @return Refund
     */
    public function resolve(string $id, array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/admin/refunds/' . Transport::segment($id) . '/resolve', $body, idempotencyKey: $idempotencyKey);
    }
}

final class WebhookEndpoints extends Resource
{
    /**
     * Register a webhook endpoint.
     *
     * @param CreateWebhookEndpointBody $body
     * @return CreateWebhookEndpointResult
     */
    public function create(array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/webhook-endpoints', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * List webhook endpoints.
     *
     * @param ListWebhookEndpointsQuery $query
     * @return Pages of ListWebhookEndpointsItem
     */
    public function list(array $query = []): Pages
    {
        return $this->pages('/api/v1/webhook-endpoints', $query);
    }

    /**
     * Get a webhook endpoint.
     *
     * @return WebhookEndpoint
     */
    public function get(string $id): array
    {
        return $this->call('GET', '/api/v1/webhook-endpoints/' . Transport::segment($id));
    }

    /**
     * Update a webhook endpoint.
     *
     * @param UpdateWebhookEndpointBody|null $body
     * @return UpdateWebhookEndpointResult
     */
    public function update(string $id, ?array $body = null): array
    {
        return $this->call('PATCH', '/api/v1/webhook-endpoints/' . Transport::segment($id), $body);
    }

    /**
     * Delete a webhook endpoint.
     *
     * @return void
     */
    public function delete(string $id): void
    {
        $this->call('DELETE', '/api/v1/webhook-endpoints/' . Transport::segment($id));
    }

    /**
     * Send a test event.
     *
     * @return TestWebhookEndpointResult
     */
    public function test(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/webhook-endpoints/' . Transport::segment($id) . '/test', idempotencyKey: $idempotencyKey);
    }

    /**
     * Check a webhook endpoint.
     *
     * @return CheckWebhookEndpointResult
     */
    public function check(string $id, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/webhook-endpoints/' . Transport::segment($id) . '/check', idempotencyKey: $idempotencyKey);
    }

    /**
     * Replay a webhook endpoint.
     *
     * @param ReplayWebhookEndpointBody $body
     * @return WebhookReplay
     */
    public function replay(string $id, array $body, ?string $idempotencyKey = null): array
    {
        return $this->call('POST', '/api/v1/webhook-endpoints/' . Transport::segment($id) . '/replay', $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * Get a replay.
     *
     * @return WebhookReplay
     */
    public function getReplay(string $id, string $replayId): array
    {
        return $this->call('GET', '/api/v1/webhook-endpoints/' . Transport::segment($id) . '/replays/' . Transport::segment($replayId));
    }
}

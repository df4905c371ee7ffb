//! The ASN.1 types of signed data and certificates (IEEE 1609.2-2022, annex B), without encrypted
//! data, requests and nested signed data.
#![allow(
    non_upper_case_globals,
    reason = "types have their names in the standard, if it names them"
)]

use crate::asn1::{Bounds, Field, Fields, Presence, Type};

/// The version of signed data and of certificates.
pub(crate) const VERSION: u8 = 3;

// Signed data (section 6.3).
types! {
    Ieee1609Dot2Data = SEQUENCE {
        protocolVersion INTEGER(3..3), content Ieee1609Dot2Content
    };
    Ieee1609Dot2Content = CHOICE { unsecuredData Opaque, signedData SignedData, ... };
    SignedData = SEQUENCE {
        hashId HashAlgorithm, tbsData ToBeSignedData, signer SignerIdentifier, signature Signature
    };
    ToBeSignedData = SEQUENCE { payload SignedDataPayload, headerInfo HeaderInfo };
    SignedDataPayload = SEQUENCE {
        data PlainData OPTIONAL, extDataHash HashedData OPTIONAL, ..., omitted NULL OPTIONAL
    };
    PlainData = SEQUENCE { protocolVersion INTEGER(3..3), content PlainContent };
    PlainContent = CHOICE { unsecuredData Opaque, ... };
    HashedData = CHOICE {
        sha256HashedData Octets32, ..., sha384HashedData Octets48,
        sm3HashedData Octets32
    };
    HeaderInfo = SEQUENCE {
        psid INTEGER(0..MAX), generationTime Time64 OPTIONAL, expiryTime Time64 OPTIONAL,
        generationLocation ThreeDLocation OPTIONAL, p2pcdLearningRequest HashedId3 OPTIONAL,
        missingCrlIdentifier MissingCrlIdentifier OPTIONAL, encryptionKey EncryptionKey OPTIONAL,
        ..., inlineP2pcdRequest SequenceOfHashedId3 OPTIONAL,
        requestedCertificate Certificate OPTIONAL, pduFunctionalType Uint8 OPTIONAL,
        contributedExtensions ContributedExtensionBlocks OPTIONAL
    };
    MissingCrlIdentifier = SEQUENCE { cracaId HashedId3, crlSeries Uint16, ... };
    SequenceOfHashedId3 = SEQUENCE_OF(0..MAX) HashedId3;
    ContributedExtensionBlocks = SEQUENCE_OF(1..MAX) ContributedExtensionBlock;
    ContributedExtensionBlock = SEQUENCE { contributorId Uint8, extns OpenTypes };
    OpenTypes = SEQUENCE_OF(1..MAX) Opaque;
    SignerIdentifier = CHOICE {
        digest HashedId8, certificate SequenceOfCertificate, self NULL, ...
    };
    SequenceOfCertificate = SEQUENCE_OF(0..MAX) Certificate;
}

// Certificates (section 6.4). What is an open type in the standard is opaque here. The last three
// extensions are not optional there, and `eeType` has a default: `app`, the first bit.
types! {
    Certificate = SEQUENCE {
        version INTEGER(3..3), type CertificateType, issuer IssuerIdentifier,
        toBeSigned ToBeSignedCertificate, signature Signature OPTIONAL
    };
    CertificateType = ENUMERATED { "explicit", "implicit", ... };
    IssuerIdentifier = CHOICE {
        sha256AndDigest HashedId8, self HashAlgorithm, ..., sha384AndDigest HashedId8,
        sm3AndDigest HashedId8
    };
    ToBeSignedCertificate = SEQUENCE {
        id CertificateId, cracaId HashedId3, crlSeries Uint16, validityPeriod ValidityPeriod,
        region GeographicRegion OPTIONAL, assuranceLevel OCTET_STRING(1..1) OPTIONAL,
        appPermissions SequenceOfPsidSsp OPTIONAL,
        certIssuePermissions SequenceOfPsidGroupPermissions OPTIONAL,
        certRequestPermissions SequenceOfPsidGroupPermissions OPTIONAL,
        canRequestRollover NULL OPTIONAL, encryptionKey PublicEncryptionKey OPTIONAL,
        verifyKeyIndicator VerificationKeyIndicator, ..., flags BIT_STRING(8..8) OPTIONAL,
        appExtensions AppExtensions OPTIONAL, certIssueExtensions CertIssueExtensions OPTIONAL,
        certRequestExtension CertRequestExtensions OPTIONAL
    };
    CertificateId = CHOICE {
        linkageData LinkageData, name UTF8String(0..255), binaryId OCTET_STRING(1..64), none NULL,
        ...
    };
    PsidGroupPermissions = SEQUENCE {
        subjectPermissions SubjectPermissions, minChainLength INTEGER DEFAULT 1,
        chainLengthRange INTEGER DEFAULT 0, eeType BIT_STRING(8..8) OPTIONAL
    };
    SequenceOfPsidGroupPermissions = SEQUENCE_OF(0..MAX) PsidGroupPermissions;
    SubjectPermissions = CHOICE { explicit SequenceOfPsidSspRange, all NULL, ... };
    VerificationKeyIndicator = CHOICE {
        verificationKey PublicVerificationKey, reconstructionValue EccP256CurvePoint, ...
    };
    AppExtensions = SEQUENCE_OF(1..MAX) AppExtension;
    AppExtension = SEQUENCE { id Uint8, content Opaque };
    CertIssueExtensions = SEQUENCE_OF(1..MAX) CertIssueExtension;
    CertIssueExtension = SEQUENCE { id Uint8, permissions IssuePermissions };
    IssuePermissions = CHOICE { specific Opaque, all NULL };
    CertRequestExtensions = SEQUENCE_OF(1..MAX) CertRequestExtension;
    CertRequestExtension = SEQUENCE { id Uint8, permissions RequestPermissions };
    RequestPermissions = CHOICE { content Opaque, all NULL };
}

// The types that both use (annex B.2).
types! {
    Uint8 = INTEGER(0..255);
    Uint16 = INTEGER(0..65535);
    Uint32 = INTEGER(0..4294967295);
    // To 2^64-1 in the standard: later times than any.
    Time64 = INTEGER(0..9223372036854775807);
    Opaque = OCTET_STRING(0..MAX);
    HashedId3 = OCTET_STRING(3..3);
    HashedId8 = OCTET_STRING(8..8);
    Octets32 = OCTET_STRING(32..32);
    Octets48 = OCTET_STRING(48..48);
    ValidityPeriod = SEQUENCE { start Uint32, duration Duration };
    Duration = CHOICE {
        microseconds Uint16, milliseconds Uint16, seconds Uint16, minutes Uint16, hours Uint16,
        sixtyHours Uint16, years Uint16
    };
    GeographicRegion = CHOICE {
        circularRegion CircularRegion, rectangularRegion SequenceOfRectangularRegion,
        polygonalRegion PolygonalRegion, identifiedRegion SequenceOfIdentifiedRegion, ...
    };
    CircularRegion = SEQUENCE { center TwoDLocation, radius Uint16 };
    RectangularRegion = SEQUENCE { northWest TwoDLocation, southEast TwoDLocation };
    SequenceOfRectangularRegion = SEQUENCE_OF(0..MAX) RectangularRegion;
    PolygonalRegion = SEQUENCE_OF(3..MAX) TwoDLocation;
    TwoDLocation = SEQUENCE { latitude Latitude, longitude Longitude };
    ThreeDLocation = SEQUENCE { latitude Latitude, longitude Longitude, elevation Uint16 };
    Latitude = INTEGER(-900000000..900000001);
    Longitude = INTEGER(-1799999999..1800000001);
    IdentifiedRegion = CHOICE {
        countryOnly Uint16, countryAndRegions CountryAndRegions,
        countryAndSubregions CountryAndSubregions, ...
    };
    SequenceOfIdentifiedRegion = SEQUENCE_OF(0..MAX) IdentifiedRegion;
    CountryAndRegions = SEQUENCE { countryOnly Uint16, regions SequenceOfUint8 };
    SequenceOfUint8 = SEQUENCE_OF(0..MAX) Uint8;
    CountryAndSubregions = SEQUENCE {
        countryOnly Uint16, regionAndSubregions SequenceOfRegionAndSubregions
    };
    SequenceOfRegionAndSubregions = SEQUENCE_OF(0..MAX) RegionAndSubregions;
    RegionAndSubregions = SEQUENCE { region Uint8, subregions SequenceOfUint16 };
    SequenceOfUint16 = SEQUENCE_OF(0..MAX) Uint16;
    HashAlgorithm = ENUMERATED { "sha256", ..., "sha384", "sm3" };
    SymmAlgorithm = ENUMERATED { "aes128Ccm", ..., "sm4Ccm" };
    Signature = CHOICE {
        ecdsaNistP256Signature EcdsaP256Signature,
        ecdsaBrainpoolP256r1Signature EcdsaP256Signature, ...,
        ecdsaBrainpoolP384r1Signature EcdsaP384Signature,
        ecdsaNistP384Signature EcdsaP384Signature,
        sm2Signature EcsigP256Signature
    };
    EcdsaP256Signature = SEQUENCE { rSig EccP256CurvePoint, sSig Octets32 };
    EcdsaP384Signature = SEQUENCE { rSig EccP384CurvePoint, sSig Octets48 };
    EcsigP256Signature = SEQUENCE { rSig Octets32, sSig Octets32 };
    UncompressedP256 = SEQUENCE { x Octets32, y Octets32 };
    UncompressedP384 = SEQUENCE { x Octets48, y Octets48 };
    EncryptionKey = CHOICE { public PublicEncryptionKey, symmetric SymmetricEncryptionKey };
    PublicEncryptionKey = SEQUENCE {
        supportedSymmAlg SymmAlgorithm, publicKey BasePublicEncryptionKey
    };
    BasePublicEncryptionKey = CHOICE {
        eciesNistP256 EccP256CurvePoint, eciesBrainpoolP256r1 EccP256CurvePoint, ...,
        ecencSm2 EccP256CurvePoint
    };
    PublicVerificationKey = CHOICE {
        ecdsaNistP256 EccP256CurvePoint, ecdsaBrainpoolP256r1 EccP256CurvePoint, ...,
        ecdsaBrainpoolP384r1 EccP384CurvePoint, ecdsaNistP384 EccP384CurvePoint,
        ecsigSm2 EccP256CurvePoint
    };
    SymmetricEncryptionKey = CHOICE {
        aes128Ccm OCTET_STRING(16..16), ..., sm4Ccm OCTET_STRING(16..16)
    };
    PsidSsp = SEQUENCE { psid INTEGER(0..MAX), ssp ServiceSpecificPermissions OPTIONAL };
    SequenceOfPsidSsp = SEQUENCE_OF(0..MAX) PsidSsp;
    ServiceSpecificPermissions = CHOICE {
        opaque Opaque, ..., bitmapSsp OCTET_STRING(0..31)
    };
    PsidSspRange = SEQUENCE { psid INTEGER(0..MAX), sspRange SspRange OPTIONAL };
    SequenceOfPsidSspRange = SEQUENCE_OF(0..MAX) PsidSspRange;
    SspRange = CHOICE {
        opaque SequenceOfOctetString, all NULL, ..., bitmapSspRange BitmapSspRange
    };
    SequenceOfOctetString = SEQUENCE_OF(0..MAX) Opaque;
    BitmapSspRange = SEQUENCE { sspValue OCTET_STRING(1..32), sspBitmask OCTET_STRING(1..32) };
    GroupLinkageValue = SEQUENCE { jValue OCTET_STRING(4..4), value LinkageValue };
    LinkageValue = OCTET_STRING(9..9);
}

// Types with names that Rust cannot write.

macro_rules! curve_point {
    ($coordinate:ident $name:literal $both:ident) => {
        Type::Choice(Fields {
            root: &[
                Field::required("x-only", &$coordinate),
                Field::required("fill", &Type::Null),
                Field::required("compressed-y-0", &$coordinate),
                Field::required("compressed-y-1", &$coordinate),
                Field::required($name, &$both),
            ],
            extensible: false,
            additions: &[],
        })
    };
}

static EccP256CurvePoint: Type = curve_point!(Octets32 "uncompressedP256" UncompressedP256);
static EccP384CurvePoint: Type = curve_point!(Octets48 "uncompressedP384" UncompressedP384);

static LinkageData: Type = Type::Sequence(Fields {
    root: &[
        Field::required("iCert", &Uint16),
        Field::required("linkage-value", &LinkageValue),
        Field { name: "group-linkage-value", of: &GroupLinkageValue, presence: Presence::Optional },
    ],
    extensible: false,
    additions: &[],
});

//! The ASN.1 types of CAM (EN 302 637-2 v1.4.1) and DENM (EN 302 637-3 v1.3.1) and of the data
//! dictionary that both use (TS 102 894-2 v1.3.1). Named numbers are left out: packed encoding rules
//! and JSON show the numbers.
#![allow(non_upper_case_globals, reason = "types have the names that they have in the standards")]

use crate::asn1::{Bounds, Field, Fields, Presence, Type, Value, uper};
use crate::refusal::Refusal;

// EN 302 637-2, annex A.
types! {
    CAM = SEQUENCE { header ItsPduHeader, cam CoopAwareness };
    CoopAwareness = SEQUENCE { generationDeltaTime INTEGER(0..65535), camParameters CamParameters };
    CamParameters = SEQUENCE {
        basicContainer BasicContainer, highFrequencyContainer HighFrequencyContainer,
        lowFrequencyContainer LowFrequencyContainer OPTIONAL,
        specialVehicleContainer SpecialVehicleContainer OPTIONAL, ...
    };
    BasicContainer = SEQUENCE { stationType StationType, referencePosition ReferencePosition, ... };
    HighFrequencyContainer = CHOICE {
        basicVehicleContainerHighFrequency BasicVehicleContainerHighFrequency,
        rsuContainerHighFrequency RSUContainerHighFrequency, ...
    };
    BasicVehicleContainerHighFrequency = SEQUENCE {
        heading Heading, speed Speed, driveDirection DriveDirection, vehicleLength VehicleLength,
        vehicleWidth INTEGER(1..62), longitudinalAcceleration LongitudinalAcceleration,
        curvature Curvature, curvatureCalculationMode CurvatureCalculationMode, yawRate YawRate,
        accelerationControl BIT_STRING(7..7) OPTIONAL, lanePosition LanePosition OPTIONAL,
        steeringWheelAngle SteeringWheelAngle OPTIONAL,
        lateralAcceleration LateralAcceleration OPTIONAL,
        verticalAcceleration VerticalAcceleration OPTIONAL, performanceClass INTEGER(0..7) OPTIONAL,
        cenDsrcTollingZone CenDsrcTollingZone OPTIONAL
    };
    RSUContainerHighFrequency = SEQUENCE {
        protectedCommunicationZonesRSU ProtectedCommunicationZonesRSU OPTIONAL, ...
    };
    LowFrequencyContainer = CHOICE {
        basicVehicleContainerLowFrequency BasicVehicleContainerLowFrequency, ...
    };
    BasicVehicleContainerLowFrequency = SEQUENCE {
        vehicleRole VehicleRole, exteriorLights BIT_STRING(8..8), pathHistory PathHistory
    };
    SpecialVehicleContainer = CHOICE {
        publicTransportContainer PublicTransportContainer,
        specialTransportContainer SpecialTransportContainer,
        dangerousGoodsContainer DangerousGoodsContainer,
        roadWorksContainerBasic RoadWorksContainerBasic, rescueContainer RescueContainer,
        emergencyContainer EmergencyContainer, safetyCarContainer SafetyCarContainer, ...
    };
    PublicTransportContainer = SEQUENCE {
        embarkationStatus BOOLEAN, ptActivation PtActivation OPTIONAL
    };
    SpecialTransportContainer = SEQUENCE {
        specialTransportType BIT_STRING(4..4), lightBarSirenInUse LightBarSirenInUse
    };
    DangerousGoodsContainer = SEQUENCE { dangerousGoodsBasic DangerousGoodsBasic };
    RoadWorksContainerBasic = SEQUENCE {
        roadworksSubCauseCode SubCauseCodeType OPTIONAL, lightBarSirenInUse LightBarSirenInUse,
        closedLanes ClosedLanes OPTIONAL
    };
    RescueContainer = SEQUENCE { lightBarSirenInUse LightBarSirenInUse };
    EmergencyContainer = SEQUENCE {
        lightBarSirenInUse LightBarSirenInUse, incidentIndication CauseCode OPTIONAL,
        emergencyPriority BIT_STRING(2..2) OPTIONAL
    };
    SafetyCarContainer = SEQUENCE {
        lightBarSirenInUse LightBarSirenInUse, incidentIndication CauseCode OPTIONAL,
        trafficRule TrafficRule OPTIONAL, speedLimit SpeedLimit OPTIONAL
    };
}

// EN 302 637-3, annex A.
types! {
    DENM = SEQUENCE { header ItsPduHeader, denm DecentralizedEnvironmentalNotificationMessage };
    DecentralizedEnvironmentalNotificationMessage = SEQUENCE {
        management ManagementContainer, situation SituationContainer OPTIONAL,
        location LocationContainer OPTIONAL, alacarte AlacarteContainer OPTIONAL
    };
    ManagementContainer = SEQUENCE {
        actionID ActionID, detectionTime TimestampIts, referenceTime TimestampIts,
        termination Termination OPTIONAL, eventPosition ReferencePosition,
        relevanceDistance RelevanceDistance OPTIONAL,
        relevanceTrafficDirection RelevanceTrafficDirection OPTIONAL,
        validityDuration INTEGER(0..86400) DEFAULT 600,
        transmissionInterval INTEGER(1..10000) OPTIONAL, stationType StationType, ...
    };
    Termination = ENUMERATED { "isCancellation", "isNegation" };
    SituationContainer = SEQUENCE {
        informationQuality InformationQuality, eventType CauseCode, linkedCause CauseCode OPTIONAL,
        eventHistory EventHistory OPTIONAL, ...
    };
    LocationContainer = SEQUENCE {
        eventSpeed Speed OPTIONAL, eventPositionHeading Heading OPTIONAL, traces Traces,
        roadType RoadType OPTIONAL, ...
    };
    AlacarteContainer = SEQUENCE {
        lanePosition LanePosition OPTIONAL, impactReduction ImpactReductionContainer OPTIONAL,
        externalTemperature INTEGER(-60..67) OPTIONAL,
        roadWorks RoadWorksContainerExtended OPTIONAL,
        positioningSolution PositioningSolutionType OPTIONAL,
        stationaryVehicle StationaryVehicleContainer OPTIONAL, ...
    };
    ImpactReductionContainer = SEQUENCE {
        heightLonCarrLeft HeightLonCarr, heightLonCarrRight HeightLonCarr,
        posLonCarrLeft PosLonCarr, posLonCarrRight PosLonCarr, positionOfPillars PositionOfPillars,
        posCentMass INTEGER(1..63), wheelBaseVehicle INTEGER(1..127), turningRadius INTEGER(1..255),
        posFrontAx INTEGER(1..20), positionOfOccupants BIT_STRING(20..20),
        vehicleMass INTEGER(1..1024), requestResponseIndication RequestResponseIndication
    };
    RoadWorksContainerExtended = SEQUENCE {
        lightBarSirenInUse LightBarSirenInUse OPTIONAL, closedLanes ClosedLanes OPTIONAL,
        restriction RestrictedTypes OPTIONAL, speedLimit SpeedLimit OPTIONAL,
        incidentIndication CauseCode OPTIONAL, recommendedPath ItineraryPath OPTIONAL,
        startingPointSpeedLimit DeltaReferencePosition OPTIONAL,
        trafficFlowRule TrafficRule OPTIONAL, referenceDenms ReferenceDenms OPTIONAL
    };
    ReferenceDenms = SEQUENCE_OF(1..8, ...) ActionID;
    StationaryVehicleContainer = SEQUENCE {
        stationarySince StationarySince OPTIONAL, stationaryCause CauseCode OPTIONAL,
        carryingDangerousGoods DangerousGoodsExtended OPTIONAL,
        numberOfOccupants INTEGER(0..127) OPTIONAL,
        vehicleIdentification VehicleIdentification OPTIONAL,
        energyStorageType BIT_STRING(7..7) OPTIONAL
    };
}

// TS 102 894-2, annex B, in its order.
types! {
    ItsPduHeader = SEQUENCE { protocolVersion Byte, messageID Byte, stationID StationID };
    Byte = INTEGER(0..255);
    StationID = INTEGER(0..4294967295);
    ReferencePosition = SEQUENCE {
        latitude Latitude, longitude Longitude, positionConfidenceEllipse PosConfidenceEllipse,
        altitude Altitude
    };
    DeltaReferencePosition = SEQUENCE {
        deltaLatitude INTEGER(-131071..131072), deltaLongitude INTEGER(-131071..131072),
        deltaAltitude INTEGER(-12700..12800)
    };
    Longitude = INTEGER(-1800000000..1800000001);
    Latitude = INTEGER(-900000000..900000001);
    Altitude = SEQUENCE {
        altitudeValue INTEGER(-100000..800001), altitudeConfidence AltitudeConfidence
    };
    AltitudeConfidence = ENUMERATED {
        "alt-000-01", "alt-000-02", "alt-000-05", "alt-000-10", "alt-000-20", "alt-000-50",
        "alt-001-00", "alt-002-00", "alt-005-00", "alt-010-00", "alt-020-00", "alt-050-00",
        "alt-100-00", "alt-200-00", "outOfRange", "unavailable"
    };
    PosConfidenceEllipse = SEQUENCE {
        semiMajorConfidence SemiAxisLength, semiMinorConfidence SemiAxisLength,
        semiMajorOrientation HeadingValue
    };
    PathPoint = SEQUENCE {
        pathPosition DeltaReferencePosition, pathDeltaTime PathDeltaTime OPTIONAL
    };
    PathDeltaTime = INTEGER(1..65535, ...);
    PtActivation = SEQUENCE { ptActivationType Byte, ptActivationData OCTET_STRING(1..20) };
    SemiAxisLength = INTEGER(0..4095);
    CauseCode = SEQUENCE { causeCode INTEGER(0..255), subCauseCode SubCauseCodeType, ... };
    SubCauseCodeType = INTEGER(0..255);
    Curvature = SEQUENCE {
        curvatureValue INTEGER(-1023..1023), curvatureConfidence CurvatureConfidence
    };
    CurvatureConfidence = ENUMERATED {
        "onePerMeter-0-00002", "onePerMeter-0-0001", "onePerMeter-0-0005", "onePerMeter-0-002",
        "onePerMeter-0-01", "onePerMeter-0-1", "outOfRange", "unavailable"
    };
    CurvatureCalculationMode = ENUMERATED { "yawRateUsed", "yawRateNotUsed", "unavailable", ... };
    Heading = SEQUENCE { headingValue HeadingValue, headingConfidence INTEGER(1..127) };
    HeadingValue = INTEGER(0..3601);
    LanePosition = INTEGER(-1..14);
    ClosedLanes = SEQUENCE {
        innerhardShoulderStatus HardShoulderStatus OPTIONAL,
        outerhardShoulderStatus HardShoulderStatus OPTIONAL,
        drivingLaneStatus BIT_STRING(1..13) OPTIONAL, ...
    };
    HardShoulderStatus = ENUMERATED { "availableForStopping", "closed", "availableForDriving" };
    Speed = SEQUENCE { speedValue INTEGER(0..16383), speedConfidence INTEGER(1..127) };
    DriveDirection = ENUMERATED { "forward", "backward", "unavailable" };
    LongitudinalAcceleration = SEQUENCE {
        longitudinalAccelerationValue AccelerationValue,
        longitudinalAccelerationConfidence AccelerationConfidence
    };
    // LongitudinalAccelerationValue, LateralAccelerationValue and VerticalAccelerationValue.
    AccelerationValue = INTEGER(-160..161);
    AccelerationConfidence = INTEGER(0..102);
    LateralAcceleration = SEQUENCE {
        lateralAccelerationValue AccelerationValue,
        lateralAccelerationConfidence AccelerationConfidence
    };
    VerticalAcceleration = SEQUENCE {
        verticalAccelerationValue AccelerationValue,
        verticalAccelerationConfidence AccelerationConfidence
    };
    StationType = INTEGER(0..255);
    DangerousGoodsBasic = ENUMERATED {
        "explosives1", "explosives2", "explosives3", "explosives4", "explosives5", "explosives6",
        "flammableGases", "nonFlammableGases", "toxicGases", "flammableLiquids", "flammableSolids",
        "substancesLiableToSpontaneousCombustion",
        "substancesEmittingFlammableGasesUponContactWithWater", "oxidizingSubstances",
        "organicPeroxides", "toxicSubstances", "infectiousSubstances", "radioactiveMaterial",
        "corrosiveSubstances", "miscellaneousDangerousSubstances"
    };
    DangerousGoodsExtended = SEQUENCE {
        dangerousGoodsType DangerousGoodsBasic, unNumber INTEGER(0..9999),
        elevatedTemperature BOOLEAN, tunnelsRestricted BOOLEAN, limitedQuantity BOOLEAN,
        emergencyActionCode IA5String(1..24) OPTIONAL, phoneNumber NumericString(1..16) OPTIONAL,
        companyName UTF8String(1..24) OPTIONAL, ...
    };
    LightBarSirenInUse = BIT_STRING(2..2);
    HeightLonCarr = INTEGER(1..100);
    PosLonCarr = INTEGER(1..127);
    PosPillar = INTEGER(1..30);
    RequestResponseIndication = ENUMERATED { "request", "response" };
    SpeedLimit = INTEGER(1..255);
    StationarySince = ENUMERATED {
        "lessThan1Minute", "lessThan2Minutes", "lessThan15Minutes", "equalOrGreater15Minutes"
    };
    TrafficRule = ENUMERATED {
        "noPassing", "noPassingForTrucks", "passToRight", "passToLeft", ...
    };
    PositioningSolutionType = ENUMERATED {
        "noPositioningSolution", "sGNSS", "dGNSS", "sGNSSplusDR", "dGNSSplusDR", "dR", ...
    };
    VehicleIdentification = SEQUENCE {
        wMInumber IA5String(1..3) OPTIONAL, vDS IA5String(6..6) OPTIONAL, ...
    };
    VehicleLength = SEQUENCE {
        vehicleLengthValue INTEGER(1..1023),
        vehicleLengthConfidenceIndication VehicleLengthConfidenceIndication
    };
    VehicleLengthConfidenceIndication = ENUMERATED {
        "noTrailerPresent", "trailerPresentWithKnownLength", "trailerPresentWithUnknownLength",
        "trailerPresenceIsUnknown", "unavailable"
    };
    PathHistory = SEQUENCE_OF(0..40) PathPoint;
    InformationQuality = INTEGER(0..7);
    RoadType = ENUMERATED {
        "urban-NoStructuralSeparationToOppositeLanes",
        "urban-WithStructuralSeparationToOppositeLanes",
        "nonUrban-NoStructuralSeparationToOppositeLanes",
        "nonUrban-WithStructuralSeparationToOppositeLanes"
    };
    SteeringWheelAngle = SEQUENCE {
        steeringWheelAngleValue INTEGER(-511..512), steeringWheelAngleConfidence INTEGER(1..127)
    };
    TimestampIts = INTEGER(0..4398046511103);
    VehicleRole = ENUMERATED {
        "default", "publicTransport", "specialTransport", "dangerousGoods", "roadWork", "rescue",
        "emergency", "safetyCar", "agriculture", "commercial", "military", "roadOperator", "taxi",
        "reserved1", "reserved2", "reserved3"
    };
    YawRate = SEQUENCE { yawRateValue INTEGER(-32766..32767), yawRateConfidence YawRateConfidence };
    YawRateConfidence = ENUMERATED {
        "degSec-000-01", "degSec-000-05", "degSec-000-10", "degSec-001-00", "degSec-005-00",
        "degSec-010-00", "degSec-100-00", "outOfRange", "unavailable"
    };
    ProtectedZoneType = ENUMERATED { "permanentCenDsrcTolling", ..., "temporaryCenDsrcTolling" };
    RelevanceDistance = ENUMERATED {
        "lessThan50m", "lessThan100m", "lessThan200m", "lessThan500m", "lessThan1000m",
        "lessThan5km", "lessThan10km", "over10km"
    };
    RelevanceTrafficDirection = ENUMERATED {
        "allTrafficDirections", "upstreamTraffic", "downstreamTraffic", "oppositeTraffic"
    };
    ActionID = SEQUENCE { originatingStationID StationID, sequenceNumber INTEGER(0..65535) };
    ItineraryPath = SEQUENCE_OF(1..40) ReferencePosition;
    ProtectedCommunicationZone = SEQUENCE {
        protectedZoneType ProtectedZoneType, expiryTime TimestampIts OPTIONAL,
        protectedZoneLatitude Latitude, protectedZoneLongitude Longitude,
        protectedZoneRadius INTEGER(1..255, ...) OPTIONAL, protectedZoneID ProtectedZoneID OPTIONAL,
        ...
    };
    Traces = SEQUENCE_OF(1..7) PathHistory;
    PositionOfPillars = SEQUENCE_OF(1..3, ...) PosPillar;
    RestrictedTypes = SEQUENCE_OF(1..3, ...) StationType;
    EventHistory = SEQUENCE_OF(1..23) EventPoint;
    EventPoint = SEQUENCE {
        eventPosition DeltaReferencePosition, eventDeltaTime PathDeltaTime OPTIONAL,
        informationQuality InformationQuality
    };
    ProtectedCommunicationZonesRSU = SEQUENCE_OF(1..16) ProtectedCommunicationZone;
    CenDsrcTollingZone = SEQUENCE {
        protectedZoneLatitude Latitude, protectedZoneLongitude Longitude,
        cenDsrcTollingZoneID ProtectedZoneID OPTIONAL, ...
    };
    ProtectedZoneID = INTEGER(0..134217727);
}

/// A CAM or DENM at the front of `bytes`, at most `max` of them: the message that its header calls
/// `id`, of version 1 or 2.
pub(super) fn decode_its(
    name: &'static str,
    of: &Type,
    id: i64,
    max: usize,
    bytes: &[u8],
) -> Result<Value, Refusal> {
    Refusal::limit(bytes.len(), max)?;
    let message = uper::decode(of, bytes).map_err(|error| Refusal::malformed(name, &error))?;
    let number = |path| message.integer(path).unwrap_or_default();
    let (is, version) = (number("header.messageID"), number("header.protocolVersion"));
    if is != id || !matches!(version, 1 | 2) {
        let text = format!("message {is} of version {version}, not a {name} ({id} of version 2)");
        return Err(Refusal::malformed(name, &text));
    }
    Ok(message)
}

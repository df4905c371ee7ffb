//! A train's position, its received power there, and its handovers.

use trackbed_core::Time;
use trackbed_measure::timeline::{Chart, Curve, Map, Place, Span, Timeline};
use trackbed_railway::motion::Coordinates;
use trackbed_railway::radio::SignalSample;

use super::thinning::thinned;
use trackbed_scenario::{Drive, Journey};

/// Adds the received power along the track, the handovers, and a map if the location is known.
pub(super) fn add(drive: &Drive, timeline: &mut Timeline) {
    for operator in &drive.timelines {
        let point = |sample: &SignalSample| (sample.chainage_m, sample.rsrp_dbm);
        let points = thinned(operator.signal.iter().map(point).collect());
        let name = operator.operator.clone();
        timeline.curves.push(Curve { chart: Chart::Power, name: name.clone(), points });
        let place = |at: Time| {
            let next = operator.signal.partition_point(|sample| sample.at < at);
            operator.signal.get(next).map(|sample| sample.chainage_m)
        };
        timeline.places.extend(operator.handovers.iter().filter_map(|handover| {
            let (from, until) = (place(handover.command)?, place(handover.end)?);
            Some(Span { name: format!("handover of {name}"), from, until })
        }));
    }
    timeline.map = drive.journey.as_ref().map(|journey| map(journey, drive));
}

fn map(Journey { ride, railway, .. }: &Journey, drive: &Drive) -> Map {
    let track = ride.track();
    let origin = track.coordinates_at(0.0);
    let km = |place: Coordinates| {
        let (east, north) = origin.offset_m(place);
        (east / 1e3, north / 1e3)
    };
    let line = |from: f64, until: f64| track.piece(from, until).into_iter().map(km).collect();
    let mut lines = vec![("track".to_owned(), line(0.0, track.length_m()))];
    let last = drive.timelines.iter().filter_map(|one| Some(one.signal.last()?.chainage_m));
    let way = (ride.chainage_m(Time::ZERO), last.fold(f64::NEG_INFINITY, f64::max));
    if way.1 > way.0 {
        lines.push(("way of the train".to_owned(), line(way.0, way.1)));
    }
    let place = |name: String, at: Coordinates| {
        let (east_km, north_km) = km(at);
        Place { name, east_km, north_km }
    };
    let stations = railway.iter().flat_map(|railway| railway.operators()).map(|operator| {
        let station = |station: &trackbed_railway::radio::Station| {
            place(station.cell.clone(), station.coordinates)
        };
        (format!("stations of {}", operator.name), operator.stations.iter().map(station).collect())
    });
    let handovers = drive.timelines.iter().map(|one| {
        let handover = |handover: &trackbed_railway::radio::Handover| {
            let at = track.coordinates_at(handover.chainage_m);
            place(format!("{} to {}", handover.from, handover.to), at)
        };
        (format!("handovers of {}", one.operator), one.handovers.iter().map(handover).collect())
    });
    let mut places: Vec<(String, Vec<Place>)> = stations.chain(handovers).collect();
    places.retain(|(_, those)| !those.is_empty());
    Map { lines, places }
}

//! The radio of a cell, from the keys of `[radio]`.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use trackbed_connection::Handshake;
use trackbed_core::parameter::{Arguments, Parameter, Value};
use trackbed_core::parameters;
use trackbed_railway::handover::Table;
use trackbed_railway::radio::{PARAMETERS, Railway, drive_from_text};

use crate::cell::CellReader;
use crate::drive::Radio;
use crate::field::{Entry, Field, MEDIUM, path};
use crate::foresight::{Foresight, ForesightKind};
use crate::plan::Cell;
use crate::problem::Problems;
use crate::spec::{Chosen, Selected, Setting, Spec};

pub(crate) const SECTION: &str = "radio";

/// Keys of the table that configure the endpoints.
pub(crate) const OF_THE_ENDS: [&str; 5] =
    ["radio.foresight", "radio.lead", "radio.rides", "radio.table", "radio.table-drift"];

/// The keys of the table: those of a railway, and those of its links.
pub(crate) fn fields() -> Vec<Field> {
    ALL.iter().map(Field::swept).collect()
}

/// Whether the scenario has a radio, whose links replace the scenario's.
pub(crate) fn is_present(spec: &Spec) -> bool {
    spec.below(SECTION).next().is_some()
}

/// Errors of the radio that do not depend on the cell.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    if !is_present(spec) {
        return;
    }
    for setting in &spec.settings {
        if setting.path == MEDIUM {
            check_medium(spec, setting, problems);
        }
        let of_medium = ["radio.queue", "radio.rate"];
        if of_medium.contains(&setting.path.as_str()) && spec.get(MEDIUM).is_some() {
            let message =
                format!("{} has no effect: the medium has queues and rates", setting.path);
            problems.add_with_help(&setting.place, message, "remove it, or medium");
        }
        let table = setting.path.split('.').next();
        let of_learning = ["radio.rides", "radio.table-drift"];
        if of_learning.contains(&setting.path.as_str()) && spec.get("radio.table").is_some() {
            let message = format!("{} has no effect together with a table", setting.path);
            problems.add_with_help(&setting.place, message, "remove it, or radio.table");
        }
        let of_radio = setting.path.strip_prefix("radio.");
        if of_radio.is_some_and(|key| !OF_RECORDED.contains(&key))
            && spec.get("radio.timeline").is_some()
        {
            let message =
                format!("{} has no effect: the timeline is a recorded drive", setting.path);
            problems.add_with_help(&setting.place, message, "remove it, or radio.timeline");
        }
        let is_rival =
            table.is_some_and(|table| RIVALS.contains(&table)) && setting.path.contains('.');
        // A timeline's reconnections and jumps would work, but its delays would not.
        let is_delay = ["environment.delay", "environment.timeline"];
        if is_rival || is_delay.contains(&setting.path.as_str()) {
            let message = format!("{} has no effect: [radio] makes the links", setting.path);
            problems.add_with_help(&setting.place, message, "remove it, or the table [radio]");
        }
        if setting.path == "handshake" && setting.choices.iter().any(begins_warm) {
            let message = "a train's drive starts with the run, before sessions could be warmed up";
            problems.add_with_help(&setting.place, message, "write handshake = \"new\"");
        }
    }
}

/// A radio gives a medium its signal, if both have one.
fn check_medium(spec: &Spec, setting: &Setting, problems: &mut Problems) {
    if spec.get("radio.timeline").is_some() {
        let message = "a recorded drive has rates, and a medium needs a signal";
        problems.add_with_help(&setting.place, message, "remove medium, or radio.timeline");
    }
    let models = setting.choices.iter().filter_map(|choice| match &choice.chosen {
        Chosen::Models(uses) => Some(uses),
        _ => None,
    });
    for one in models.flatten() {
        let Entry::Medium(entry) = one.model.entry else { continue };
        if entry.signal.is_empty() {
            let message = format!("{} has no effect: it has no signal that changes", entry.name);
            problems.add_with_help(&one.place, message, "remove it, or the table [radio]");
        }
        let replaced = one.settings.iter().filter(|own| {
            own.path.rsplit('.').next().is_some_and(|name| entry.signal.contains(&name))
        });
        for own in replaced {
            let message = format!("{} has no effect: [radio] makes the signal", own.path);
            problems.add_with_help(&own.place, message, "remove it, or the table [radio]");
        }
    }
}

fn begins_warm(choice: &crate::spec::Choice) -> bool {
    Handshake::from_name(&choice.chosen.text()).is_some_and(Handshake::begins_warm)
}

/// A load balancer is instead of several paths.
pub(crate) fn check_balancer(at: Selected<'_>, cell: &Cell, problems: &mut Problems) {
    if cell.radio.as_ref().is_some_and(Radio::balances)
        && cell.endpoint.protocol.capabilities().multipath
        && let Some(setting) = at.spec.get("radio.operator")
    {
        let message =
            "a load balancer gives each connection one operator, and this one has several paths";
        problems.add_with_help(
            &at.pick(setting).place,
            message,
            "write protocol = \"tcp\" or \"quic\"",
        );
    }
}

/// Railways built so far, by their canonical lines.
pub(crate) type Railways = BTreeMap<String, Radio>;

/// The radio of a cell, if the scenario has one; `None` if there is an error.
pub(crate) fn resolve(cell: &mut CellReader<'_>, railways: &mut Railways) -> Option<Option<Radio>> {
    let at = cell.at;
    let Some(first) = at.spec.below(SECTION).next() else { return Some(None) };
    let (given, line) = cell.table(SECTION, &ALL)?;
    cell.lines.push(line.clone());
    if let Some(radio) = railways.get(&line) {
        return Some(Some(radio.clone()));
    }
    let refused = |Refusal { why, parameter }: Refusal| {
        let place = parameter.map(|name| at.place(&path(SECTION, name), first));
        cell.problems.add(place.unwrap_or(&at.pick(first).place), why);
    };
    let radio = radio(given).map_err(refused).ok()?;
    railways.insert(line, radio.clone());
    Some(Some(radio))
}

/// Why a radio is invalid, and the parameter concerned.
struct Refusal {
    why: String,
    parameter: Option<&'static str>,
}

impl Refusal {
    fn new(why: impl ToString, parameter: &'static str) -> Refusal {
        Refusal { why: why.to_string(), parameter: Some(parameter) }
    }
}

fn radio(given: Vec<(&'static str, Value)>) -> Result<Radio, Refusal> {
    let of_links = |name: &str| LINKS.iter().any(|own| own.name == name);
    let (of_links, of_railway): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|(name, _)| of_links(name));
    let read = |parameters: &[Parameter], given: &[_]| {
        Arguments::read(parameters, given)
            .map_err(|why| Refusal { why: why.to_string(), parameter: None })
    };
    let links = read(LINKS, &of_links)?;
    let radio = of_all_operators(&links, || read(PARAMETERS, &of_railway))?;
    let operator = links.get::<&str>("operator");
    let is_alone = operator.is_some() || radio.operators() == 1;
    if is_alone && links.need::<&str>("foresight") != ForesightKind::Off.name() {
        let why =
            "a connection over one operator has no other path to use; write foresight = \"none\"";
        return Err(Refusal::new(why, "foresight"));
    }
    let Some(operator) = operator else { return Ok(radio) };
    let chosen = OPERATORS.iter().position(|name| *name == operator).filter(|at| *at < 2);
    radio.with_operator(chosen).map_err(|why| Refusal::new(why, "operator"))
}

fn of_all_operators(
    links: &Arguments,
    of_railway: impl FnOnce() -> Result<Arguments, Refusal>,
) -> Result<Radio, Refusal> {
    let rides = u32::try_from(links.need::<u64>("rides")).unwrap_or(u32::MAX).min(RIDES_MAX);
    let foresight = Foresight::new(links.need("foresight"), links.get("lead"), rides)
        .expect("the parameter lists all of them")
        .with_drift(links.need("table-drift"));
    let queue = links.need("queue");
    if let Some(text) = links.get::<Arc<str>>("timeline") {
        let drive = drive_from_text(&text).map_err(|why| Refusal::new(why, "timeline"))?;
        let names = drive.timelines.iter().map(|one| one.operator.as_str());
        let foresight = with_table(foresight, links, None, names)?;
        return Radio::recorded(drive, queue, foresight)
            .map_err(|why| Refusal::new(why, "timeline"));
    }
    let railway =
        Railway::read(&of_railway()?).map_err(|why| Refusal::new(why.advice, why.place))?;
    let railway = Arc::new(railway);
    let names = railway.operators().iter().map(|operator| operator.name.as_str());
    let foresight = with_table(foresight, links, Some(&railway), names)?;
    Radio::new(railway, links.need("duration"), queue, foresight)
        .map_err(|why| Refusal::new(why, "stations"))
}

/// The foresight with the table of the file, if there is one.
fn with_table<'a>(
    foresight: Foresight,
    links: &Arguments,
    railway: Option<&Railway>,
    operators: impl IntoIterator<Item = &'a str>,
) -> Result<Foresight, Refusal> {
    let Some(text) = links.get::<Arc<str>>("table") else { return Ok(foresight) };
    Table::parse(&text)
        .map_err(|why| why.to_string())
        .and_then(|table| foresight.with_table(table, railway, operators))
        .map_err(|why| Refusal::new(why, "table"))
}

const RIVALS: [&str; 3] = ["link", "second-link", "access"];

const LINKS: &[Parameter] = parameters! {
    "foresight": Choice(ForesightKind::NAMES) = "none" =>
        "MPTCP, mpquic: how data avoids a path before its handovers: pha (sender, handover table), \
         pha-d (receiver, MP_PRIO or PATH_STATUS), oracle (sender, true times) or reactive (MPTCP: \
         sender, once a handover has begun: what is in flight is sent again on the other path)";
    "lead": Time, optional =>
        "how long before a table's range, or an outage, the path is left; default: 0 ms for pha, \
         200 ms for pha-d, 50 ms for oracle";
    "table": File, optional =>
        "handover table of this railway, as written by `trackbed handover build`; default: a \
         learnt one";
    "timeline": File, optional =>
        "recorded drive instead of a railway, as `trackbed drive import` writes it, or `trackbed \
         replay` (radio-timeline.csv)";
    "rides": Count { min: 0 } = "50" =>
        "preliminary rides from which the handover table is learnt; 0 makes an empty table";
    "table-drift": Share = "0 %" =>
        "age of the learnt table: share of the variance of location-dependent shadowing that has \
         changed since";
    "operator": Choice(&OPERATORS), optional =>
        "the only operator that the train uses; load-balancer: each connection takes one of them at \
         random, as routers that hash connections do; default: all";
    "duration": Time = "2 min" => "duration of the drive; afterwards the radio stays constant";
    "queue": Size = "250 kB" => "queue size of each direction of each operator's link";
};

/// The keys that a recorded drive still allows.
const OF_RECORDED: [&str; 6] = ["timeline", "queue", "foresight", "lead", "operator", "table"];

const OPERATORS: [&str; 3] = ["first", "second", "load-balancer"];

/// More rides teach nothing new.
const RIDES_MAX: u32 = 10_000;

static ALL: LazyLock<Vec<Parameter>> =
    LazyLock::new(|| PARAMETERS.iter().chain(LINKS).copied().collect());

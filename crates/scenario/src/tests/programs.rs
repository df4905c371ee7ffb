//! Third-party programs at the endpoints.

use super::{expect_words, factors, plan, planned_with, rows};

/// A scenario whose endpoints are `more`; without the keys of the built-in ones.
fn text(more: &str) -> String {
    format!("{more}\n[link]\ndelay = \"5 ms\"\n")
}

fn with_workload(more: &str) -> String {
    text(more) + "[workload]\nkind = \"messages\"\n"
}

#[test]
fn a_server_is_a_factor_like_a_protocol() {
    let swept = "protocol = [\"http2\", \"http3\"]\nserver = [\"trackbed\", \"nginx\", \"caddy\"]";
    let plan = plan(&with_workload(swept));
    assert_eq!(
        factors(&plan).join("; "),
        "protocol=http2 server=trackbed; protocol=http2 server=nginx; protocol=http2 \
         server=caddy; protocol=http3 server=trackbed; protocol=http3 server=caddy"
    );
    assert_eq!(plan.notes, ["left out 1 combination: nginx supports http1, http2, not http3"]);
    let ours: Vec<bool> = plan.cells.iter().map(|cell| cell.endpoint.programs.is_empty()).collect();
    assert_eq!(ours, [true, false, false, true, false]);
}

#[test]
fn a_command_needs_no_name_and_who_is_not_there_has_none() {
    let command = "protocol = \"http2\"\nserver-command = \"serve {port}\"";
    let plan = plan(&with_workload(command));
    let server = plan.cells[0].endpoint.programs.server.clone().unwrap();
    assert_eq!(server.name(), "serve");
    let both = format!("{command}\nserver = [\"trackbed\", \"command\"]");
    let plan = super::plan(&with_workload(&both));
    assert_eq!(factors(&plan), ["protocol=http2 server=trackbed", "protocol=http2 server=command"]);
    expect_words(&with_workload("protocol = \"http2\"\nserver = \"command\""), &[], &["missing"]);
}

#[test]
fn two_programs_bring_their_own_protocol_and_workload() {
    let mqtt = "server = \"mosquitto\"\nclient-command = \"mosquitto_pub -h {address}\"";
    let plan = plan(&text(mqtt));
    assert_eq!((plan.cells.len(), plan.cells[0].endpoint.tls), (1, None));
    assert_eq!(factors(&plan), ["server=mosquitto"]);
    expect_words(&text("server = \"mosquitto\""), &[], &["does not say its protocol"]);
    let ours = text("server = \"trackbed\"\nclient-command = \"curl {address}\"");
    expect_words(&ours, &[], &["the built-in server needs a protocol"]);
}

#[test]
fn a_client_is_a_factor_too() {
    let swept = "protocol = [\"http2\", \"quic\"]\nclient = [\"trackbed\", \"chromium\"]";
    let plan = plan(&with_workload(swept));
    assert_eq!(
        factors(&plan),
        [
            "protocol=http2 client=trackbed",
            "protocol=http2 client=chromium",
            "protocol=quic client=trackbed",
        ]
    );
    let why = "left out 1 combination: chromium supports http1, http2, http3, not quic";
    assert_eq!(plan.notes, [why]);
    let client = plan.cells[1].endpoint.programs.client.as_ref().unwrap();
    assert_eq!((client.program.name(), client.timeout.as_secs()), ("chromium", 600));
}

#[test]
fn what_a_program_cannot_be_held_to_is_refused() {
    for row in rows(include_str!("programs.txt")) {
        expect_words(&with_workload(&row[0]), &[], &row[1..]);
    }
}

/// The built-in client offers only one version, so the server needs no restriction.
#[test]
fn our_own_client_holds_any_server_to_a_version_and_a_cipher() {
    let ends = "protocol = \"http2\"\nserver = [\"nghttpd\", \"caddy\"]\ntls = [\"1.2\", \"1.3\"]\n\
                cipher = \"aes256gcm\"";
    let plan = plan(&with_workload(ends));
    assert_eq!(plan.cells.len(), 4);
    assert!(plan.cells.iter().all(|cell| cell.endpoint.client_tls().ciphers.len() == 1));
}

#[test]
fn a_plan_is_told_by_its_programs_and_what_none_uses_is_a_mistake() {
    let hash = |more: &str| {
        let ends = format!("protocol = \"http2\"\n{more}");
        plan(&with_workload(&ends)).hash
    };
    let unused = "client = \"trackbed\"\nclient-command = \"curl\"\nserver = \"trackbed\"";
    assert_ne!(hash(""), hash("server = \"nginx\""));
    assert_ne!(hash("server-command = \"a\""), hash("server-command = \"b\""));
    let unused = with_workload(&format!("protocol = \"http2\"\n{unused}"));
    expect_words(&unused, &[], &["client-command curl occurs in no cell"]);
}

/// The user has typed the settings; the author of the file has chosen the rest.
#[test]
fn commands_of_the_file_are_named_and_those_of_settings_are_not() {
    let commands = |ends: &str, settings: &[&str]| {
        let inference = "[inference]\nkind = \"command\"\ncommand = \"./watch\"\n";
        let text = with_workload(&format!("protocol = \"http2\"\n{ends}")) + inference;
        planned_with(&text, settings).commands
    };
    let swept = "server-command = [\"a\", \"b\"]\nclient-command = \"a\"";
    assert_eq!(commands(swept, &[]), ["./watch", "a", "b"]);
    assert_eq!(commands(swept, &["server-command=c,d"]), ["./watch", "a"]);
    let all = ["server-command=c", "client-command=c", "inference.command=c"];
    assert!(commands(swept, &all).is_empty());
}

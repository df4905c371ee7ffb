//! Programs that Trackbed starts as root: they run as another user, without rights.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::geteuid;

use super::support::descendants;
use crate::Scratch;
use crate::support::{Ended, eventually, start};

/// A command that prints its permissions, and fails.
const TELL: &str = "\
sh -c 'cd /; echo $(id -u):$(id -g):$(id -G) $(grep -hE \"^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs)\" \
/proc/self/status) secret=$(cat SECRET 2>/dev/null) home=$(cd && touch x && echo written) \
own=$(: > WRITABLE/x && echo written) beside=$(: > WRITABLE/../x && echo written) >&2; exit 9'";

const NOTHING: &str = "CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 \
                       CapAmb: 0000000000000000 NoNewPrivs: 1 secret=";

/// A scenario in which `ends` runs this command. `None` if this process is not root or cannot create
/// namespaces.
fn scratch(ends: &str, writable: &str) -> Option<Scratch> {
    if !geteuid().is_root() {
        eprintln!("SKIPPED: only root runs programs as another user");
        return None;
    }
    let scratch = Scratch::with(&[], "")?;
    scratch.write("secret", "of root alone");
    fs::set_permissions(scratch.path("secret"), Permissions::from_mode(0o600)).unwrap();
    let secret = scratch.path("secret").display().to_string();
    let tell = TELL.replace("SECRET", &secret).replace("WRITABLE", writable);
    let text = format!(
        "protocol = \"tcp\"\nruns = 1\n{ends}\n[link]\ndelay = \"1 ms\"\n[workload]\nkind = \"messages\"\n"
    );
    scratch.write("a.toml", &text.replace("TELL", &tell));
    Some(scratch)
}

/// The output of the command when `who` has called sudo(8).
fn told(scratch: &Scratch, who: Option<(&str, &str)>) -> String {
    let _ = fs::remove_dir_all(scratch.path("out"));
    let mut command = scratch.emulated("");
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    if let Some((uid, gid)) = who {
        command.env("SUDO_UID", uid).env("SUDO_GID", gid);
    }
    let ended = Ended::of(&mut command);
    ended.says(1, &[]);
    assert!(!ended.stderr.contains("as root"), "{}", ended.stderr);
    ended.stderr
}

#[test]
fn commands_that_root_starts_run_as_another_user_without_rights() {
    for ends in ["client-command = '''TELL'''", "server-command = '''TELL'''"] {
        let Some(scratch) = scratch(ends, "{directory}") else { return };
        for (who, uid) in [
            (None, "65534:65534:65534"),
            (Some(("0", "0")), "65534:65534:65534"),
            (Some(("4321", "1234")), "4321:1234:1234"),
        ] {
            let said = told(&scratch, who);
            let expected = format!("{uid} {NOTHING} home=written own=written beside=");
            let line = said.lines().find(|line| line.trim_end().ends_with(&expected));
            assert!(line.is_some(), "{expected}\n{said}");
        }
        assert!(scratch.left_over().is_empty(), "{:?}", scratch.left_over());
    }
}

#[test]
fn so_does_a_command_of_inference() {
    let ends = "[inference]\nkind = \"command\"\ncommand = '''TELL'''";
    let Some(scratch) = scratch(ends, "/nowhere") else { return };
    let said = told(&scratch, Some(("4321", "1234")));
    assert!(said.contains(&format!("4321:1234:1234 {NOTHING}")), "{said}");
}

/// Where root's folder for temporary files is closed to others, programs have theirs elsewhere.
#[test]
fn a_private_folder_for_temporary_files_is_no_obstacle() {
    let Some(scratch) = scratch("client-command = '''cat {certificate}'''", "") else { return };
    fs::set_permissions(scratch.folder(), Permissions::from_mode(0o700)).unwrap();
    Ended::of(&mut scratch.emulated("--set protocol=http2 --set tls=1.3")).says(0, &[]);
    assert!(scratch.left_over().is_empty(), "{:?}", scratch.left_over());
}

/// Each server while it waits for clients, with every process that it has started.
#[test]
#[ignore = "thorough: third-party programs"]
fn servers_by_name_are_not_root_either() {
    for server in ["nginx", "caddy", "nghttpd", "mosquitto", "coap-server"] {
        let Some(_is_root) = scratch("client-command = \"true\"", "") else { return };
        let text = format!(
            "server = \"{server}\"\nclient-command = \"sleep 1\"\nruns = 1\n[link]\ndelay = \"1 ms\"\n"
        );
        let Some(scratch) = Scratch::with(&[server], &text) else { continue };
        let mut command = scratch.emulated("");
        command.env("SUDO_UID", "4321").env("SUDO_GID", "1234");
        let child = start(command);
        let root = child.id();
        let found = eventually("the client waits", || {
            let all = descendants(root);
            all.iter().any(|(_, name)| name == "sleep").then_some(all)
        });
        let users: Vec<String> = found
            .iter()
            .filter(|(_, name)| server.starts_with(name.as_str()) || name.starts_with(server))
            .map(|(pid, _)| fs::read_to_string(format!("/proc/{pid}/status")).unwrap())
            .map(|status| status.lines().find(|line| line.starts_with("Uid:")).unwrap().to_owned())
            .collect();
        let ended = Ended::from(child.wait_with_output().unwrap());
        assert_eq!(ended.status, 0, "{server}: {}", ended.stderr);
        assert!(!users.is_empty(), "{server}: {found:?}");
        let expected = "Uid:\t4321\t4321\t4321\t4321";
        assert!(users.iter().all(|user| user == expected), "{server}: {users:?}");
    }
}

//! The script that `trackbed plan --for slurm` prints, on a real Slurm: one machine, an array of eight tasks, and
//! in the end the same bytes as from a single process. Needs root and Debian's slurm-wlm and munge; without them,
//! this test is skipped; with `CI=true`, a missing program is a failure.

use std::net::TcpListener;
use std::process::Child;

use trackbed_programs::find_executable;

use super::support::{printed, skip, wait_until};
use super::sweeps::FILES;
use super::*;

#[test]
#[ignore = "thorough: Slurm"]
fn an_array_of_eight_comes_to_the_bytes_of_one_run() {
    if !is_possible() {
        return;
    }
    let scratch = Scratch::new();
    for name in ["state", "spool"] {
        fs::create_dir(scratch.path(name)).unwrap();
    }
    let cluster = Cluster::start(scratch.folder());
    let sweep = SCENARIO.replace("\"quic\"\nruns = 2", "[\"quic\", \"tcp\"]\nruns = 40");
    let sweep = sweep.replace("[link]", "[link]\nloss = [\"0 %\", \"2 %\", \"100 %\"]");
    assert!(["runs = 40", "loss"].iter().all(|line| sweep.contains(line)), "{sweep}");
    scratch.write("sweep.toml", &sweep);
    let script = scratch.succeed("plan sweep.toml --for slurm --shards 8 --out out").stdout;
    scratch.write("sweep.sbatch", &script);
    // As the script itself suggests, including the merge, which also works with failed runs.
    let said = script.lines().find_map(|line| line.strip_prefix("#   sbatch ")).unwrap();
    let said = format!("sbatch {}", said.replace("THIS_FILE", "sweep.sbatch"));
    printed(cluster.command("bash").args(["-c", &said]));
    wait_until("the end of the jobs", || printed(cluster.command("squeue").arg("-h")).is_empty());
    let logs = || {
        let entries = scratch.entries("").into_iter();
        let logs = entries.filter(|path| path.extension().is_some_and(|end| end == "out"));
        logs.map(|path| fs::read_to_string(path).unwrap()).collect::<String>()
    };
    for shard in 1..=8 {
        let document = scratch.path(&format!("out/shard-{shard}-of-8/run.json"));
        assert!(document.exists(), "shard {shard} is missing: {}", logs());
    }
    assert!(logs().contains("240 of 240 runs exist"), "{}", logs());
    assert_eq!(scratch.trackbed("run sweep.toml --out whole").status, 1, "runs failed");
    scratch.same("out", "whole", &FILES);
}

fn is_possible() -> bool {
    let missing: Vec<&str> = ["munged", "slurmctld", "slurmd", "sbatch"]
        .into_iter()
        .filter(|name| find_executable(&[name], None).is_err())
        .collect();
    let is_root = rustix::process::geteuid().is_root();
    if missing.is_empty() && is_root {
        return true;
    }
    skip(format!("{missing:?} missing, root: {is_root}; install slurm-wlm and munge"));
    false
}

/// A cluster of only this machine, with separate keys, ports and files.
struct Cluster {
    folder: PathBuf,
    servers: Vec<Child>,
}

impl Cluster {
    fn start(folder: &Path) -> Cluster {
        let key = folder.join("munge.key");
        fs::write(&key, [7; 128]).unwrap();
        printed(Command::new("chmod").arg("400").arg(&key));
        fs::write(folder.join("slurm.conf"), configuration(folder)).unwrap();
        let mut cluster = Cluster { folder: folder.to_owned(), servers: Vec::new() };
        let at = |option: &str, file: &str| format!("--{option}={}", folder.join(file).display());
        let files = [("key-file", "munge.key"), ("socket", "munge.sock"), ("seed-file", "seed")];
        let more = [("pid-file", "munged.pid"), ("log-file", "munged.log")];
        let mut munged = cluster.command("munged");
        munged.args(["--foreground", "--force"]);
        munged.args(files.iter().chain(&more).map(|(option, file)| at(option, file)));
        cluster.serve(munged);
        wait_until("munged", || folder.join("munge.sock").exists());
        for name in ["slurmctld", "slurmd"] {
            let mut server = cluster.command(name);
            server.arg("-D");
            cluster.serve(server);
        }
        let is_idle = || {
            let state = cluster.command("sinfo").args(["-h", "-o", "%t"]).output().unwrap();
            state.stdout.starts_with(b"idle")
        };
        wait_until("an idle node", is_idle);
        cluster
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(find_executable(&[name], None).unwrap());
        let folder = Path::new(env!("CARGO_BIN_EXE_trackbed")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [folder.to_owned()].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        command.env("SLURM_CONF", self.folder.join("slurm.conf")).current_dir(&self.folder);
        command.stdin(Stdio::null());
        command
    }

    fn serve(&mut self, mut command: Command) {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.servers.push(child.unwrap());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for server in self.servers.iter_mut().rev() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// slurm.conf(5): no accounting, no control groups, and unused ports.
fn configuration(folder: &Path) -> String {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [control, node] = listeners.map(|listener| listener.local_addr().unwrap().port());
    let host = printed(Command::new("hostname").arg("-s"));
    let (host, folder) = (host.trim(), folder.display());
    format!(
        include_str!("../data/slurm.conf"),
        host = host,
        control = control,
        node = node,
        folder = folder
    )
}

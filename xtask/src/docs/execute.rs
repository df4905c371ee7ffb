//! Executes a page's commands in a separate folder, in their order.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::block::{self, Block, Command, Session};
use super::compare::{Difference, Exactness, compare};
use super::needs;
use crate::files::{fresh, read, told, write};
use crate::ledger::Ledger;
use crate::python;

/// Executes the commands of all pages whose path contains `part`.
pub fn execute(
    pages: &[PathBuf],
    part: &str,
    trackbed: &Path,
    ledger: &mut Ledger,
) -> Result<(), String> {
    if !trackbed.is_file() {
        return Err(format!(
            "{} does not exist; run: cargo build --release --bin trackbed",
            trackbed.display()
        ));
    }
    let mut needs = BTreeMap::new();
    for page in pages.iter().filter(|page| page.to_string_lossy().contains(part)) {
        #[expect(clippy::disallowed_methods, reason = "reports how long a page took")]
        let started = Instant::now();
        let commands = execute_page(page, trackbed, &mut needs, ledger)?;
        ledger.commands += commands as u64;
        if commands > 0 {
            let seconds = started.elapsed().as_secs_f64();
            eprintln!("    {}: {commands} commands, {seconds:.1} s", page.display());
        }
    }
    Ok(())
}

/// Executes the commands of one page, and returns their number.
fn execute_page(
    page: &Path,
    trackbed: &Path,
    needs: &mut BTreeMap<String, bool>,
    ledger: &mut Ledger,
) -> Result<usize, String> {
    let text = read(page)?;
    let at = |line: usize| format!("{}:{line}", page.display());
    let blocks = block::blocks(&text).map_err(|(line, why)| format!("{}: {why}", at(line)))?;
    if !blocks.iter().any(|block| matches!(block, Block::Session(_))) {
        return Ok(0);
    }
    let mut stage = Stage::new(page, trackbed)?;
    for block in &blocks {
        match block {
            Block::Quote(_) => {}
            Block::File(file) => write(stage.folder.join(&file.name), &file.text)?,
            Block::Session(session) if session.illustration => {}
            Block::Session(session) => {
                match session.needs.iter().find(|need| !needs::is_met(need, trackbed, needs)) {
                    Some(need) => needs::skip(&at(session.line), need, ledger)?,
                    None => stage.session(session, page)?,
                }
            }
        }
    }
    Ok(stage.executed)
}

/// Where the commands of one page are executed.
struct Stage {
    folder: PathBuf,
    path: std::ffi::OsString,
    /// Python's packages where the project has its own.
    environment: Option<(&'static str, PathBuf)>,
    executed: usize,
    /// The process groups of commands, which may have left something in the background.
    groups: Vec<u32>,
}

impl Stage {
    fn new(page: &Path, trackbed: &Path) -> Result<Stage, String> {
        let name = page.with_extension("").to_string_lossy().replace('/', "-");
        let folder = Path::new("target/book-commands").join(name);
        fresh(&folder)?;
        // Only `trackbed` itself, whatever else was built beside it.
        let programs = std::path::absolute("target/book-programs");
        let programs = programs.map_err(|why| why.to_string())?;
        fresh(&programs)?;
        std::os::unix::fs::symlink(trackbed, programs.join("trackbed"))
            .map_err(told(programs.display()))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(programs).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).map_err(|why| why.to_string())?;
        let environment = python::variable();
        Ok(Stage { folder, path, environment, executed: 0, groups: Vec::new() })
    }

    fn session(&mut self, session: &Session, page: &Path) -> Result<(), String> {
        let exactness = if session.real_time { Exactness::Words } else { Exactness::Letters };
        for command in &session.commands {
            let at = |line: usize| format!("{}:{line}", page.display());
            let failed = |why: String| format!("{}: {}\n    {why}", at(command.line), command.text);
            let (status, said) = self.execute(command).map_err(failed)?;
            if status != command.status {
                let expected = command.status;
                let last = said.iter().rev().take(15).rev();
                let said = last.map(|line| format!("\n    | {line}")).collect::<String>();
                return Err(failed(format!("exit status {status}, expected {expected}{said}")));
            }
            compare(&command.shown, &said, exactness)
                .map_err(|difference| failed(explain(&difference, &command.shown)))?;
        }
        Ok(())
    }

    /// The command's exit status, and its standard output and error.
    fn execute(&mut self, command: &Command) -> Result<(i32, Vec<String>), String> {
        let output = self.folder.with_extension("output");
        let failed = |why: std::io::Error| format!("the command cannot be started: {why}");
        let file = File::create(&output).map_err(failed)?;
        let mut child = std::process::Command::new("bash")
            .args(["-c", &format!("set -o pipefail\n{}", command.text)])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("CI")
            .envs(self.environment.clone())
            .stdin(Stdio::null())
            .stdout(file.try_clone().map_err(failed)?)
            .stderr(file)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        self.groups.push(child.id());
        self.executed += 1;
        let status = wait(&mut child)?;
        let said = fs::read(&output).map_err(|why| why.to_string())?;
        Ok((status, String::from_utf8_lossy(&said).lines().map(str::to_owned).collect()))
    }
}

impl Drop for Stage {
    /// Ends what the page's commands have left running.
    fn drop(&mut self) {
        let groups = self.groups.iter().map(|group| format!("-{group}"));
        let mut kill = std::process::Command::new("kill");
        kill.args(["-TERM", "--"]).args(groups).stdout(Stdio::null()).stderr(Stdio::null());
        // Most groups are empty by now, which is what kill complains of.
        let _ = kill.status();
    }
}

/// The exit status of a command that ends within the limit; a killed one has none.
fn wait(child: &mut Child) -> Result<i32, String> {
    #[expect(clippy::disallowed_methods, reason = "a command that hangs must fail")]
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|why| why.to_string())? {
            return status.code().ok_or_else(|| status.to_string());
        }
        if started.elapsed() > LIMIT {
            return Err(format!("the command did not finish within {} s", LIMIT.as_secs()));
        }
        #[expect(clippy::disallowed_methods, reason = "a chore waits for another process")]
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn explain(difference: &Difference, shown: &[String]) -> String {
    let remedy = "if the new output is right, write it into the page";
    match difference {
        Difference::Missing(line, nearest) => {
            let nearest = nearest.as_ref().map_or("(no similar line)", String::as_str);
            let shown = &shown[*line];
            format!("shown is\n    {shown}\n    but it prints\n    {nearest}\n    {remedy}")
        }
        Difference::More(line) => {
            format!(
                "the command prints more than is shown:\n    {line}\n    end the block with ..., \
                 or {remedy}"
            )
        }
    }
}

/// For one command.
const LIMIT: Duration = Duration::from_secs(180);

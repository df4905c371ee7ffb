//! The processes of a run, as seen by their parent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::IpAddr;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use trackbed_core::event::{Record, Role};
use trackbed_emulator::namespace::NetNamespace;
use trackbed_emulator::{Clock, Remote};
use trackbed_protocols::Side;

use super::conversation::{Go, Job, Report, Start};
use super::endpoint::ENDPOINT;
use super::spread::merged;
use crate::run::Onlooker;
use crate::windows::Connection;

/// The ends of a run that are processes of this program. They end when this is dropped.
pub(super) struct Ends {
    /// The server's, if there is one, and those of clients.
    processes: Vec<Process>,
    /// What each says; an error once its output has ended: the reason, if known.
    reports: Receiver<(usize, Heard)>,
    /// Measures how long an end has been silent.
    clock: Clock,
    period: Duration,
    /// The TLS secrets of those that have finished.
    keys: String,
    /// And the congestion windows.
    windows: Vec<(Side, Connection)>,
    /// The links between them, once these are open.
    links: Option<Remote>,
}

type Heard = Result<Report, String>;

impl Ends {
    /// Starts the ends that are processes of this program; returns when they are ready.
    pub fn prepare(
        server: Option<(&NetNamespace, &Job)>,
        (place, clients): (&NetNamespace, &[Job]),
    ) -> Result<Ends, String> {
        let (sender, reports) = mpsc::channel();
        let period = match (server, clients) {
            (Some(_), [_, ..]) => LISTENING,
            _ => WATCHING,
        };
        let jobs = server.into_iter().chain(clients.iter().map(|job| (place, job)));
        let start = |(end, (place, job))| Process::start(place, job, (end, sender.clone()));
        let processes = (0..).zip(jobs).map(start).collect::<Result<Vec<_>, _>>()?;
        let (clock, keys, windows) = (Clock::start(), String::new(), Vec::new());
        let mut ends = Ends { processes, reports, clock, period, keys, windows, links: None };
        for _ in 0..ends.processes.len() {
            match ends.next(|| Ok(()))? {
                (_, Report::Prepared) => {}
                (end, _) => return Err(ends.out_of_turn(end)),
            }
        }
        Ok(ends)
    }

    /// From now on these links follow phones that move.
    pub fn follow(&mut self, links: Remote) {
        self.links = Some(links);
    }

    /// Starts the server and waits until it serves; returns the certificate of each member's.
    pub fn serve(&mut self, origin: u64) -> Result<Vec<Option<Vec<u8>>>, String> {
        self.tell(Role::Server, &Start { origin, trusts: Vec::new() });
        match self.next(|| Ok(()))? {
            (SERVER, Report::Ready { trusts }) => Ok(trusts),
            (end, _) => Err(self.out_of_turn(end)),
        }
    }

    /// Starts the clients, waits until they have finished, and returns the events of each member. `watch`
    /// regularly checks a third-party server; its error ends the wait.
    pub fn drive(
        &mut self,
        start: &Start,
        mut watch: impl FnMut() -> Result<(), String>,
    ) -> Result<Vec<Vec<Record>>, String> {
        let number = self.tell(Role::Client, start);
        if number > 1 {
            for _ in 0..number {
                match self.next(&mut watch)? {
                    (end, Report::Ready { .. }) if self.is(end, Role::Client) => {}
                    (end, _) => return Err(self.out_of_turn(end)),
                }
            }
            self.tell(Role::Client, &Go { at: Clock::since(start.origin).now() + WORD });
        }
        let mut accounts = vec![Vec::new(); self.processes.len()];
        for _ in 0..number {
            let (end, report) = self.next(&mut watch)?;
            accounts[end] = self.account((end, Role::Client), report)?;
        }
        let mut accounts = accounts.split_off(accounts.len() - number);
        if let [only] = &mut accounts[..] {
            return Ok(std::mem::take(only));
        }
        // Several processes share one member.
        Ok(vec![merged(accounts.into_iter().flatten().collect())])
    }

    /// Stops the server, and returns its events of each member.
    pub fn finish(&mut self) -> Result<Vec<Vec<Record>>, String> {
        // The end of its input tells it to stop.
        self.processes[SERVER].input = None;
        let (end, report) = self.next(|| Ok(()))?;
        self.account((end, Role::Server), report)
    }

    /// The account of an end with this role that has finished.
    fn account(
        &mut self,
        (end, role): (usize, Role),
        report: Report,
    ) -> Result<Vec<Vec<Record>>, String> {
        let (true, Report::Done { records, keys, windows }) = (self.is(end, role), report) else {
            return Err(self.out_of_turn(end));
        };
        self.processes[end].is_done = true;
        let side = match role {
            Role::Server => Side::Server,
            Role::Client => Side::Client,
        };
        self.keys.push_str(&keys);
        self.windows.extend(windows.map(|windows| (side, windows)));
        Ok(records)
    }

    /// Passes on the TLS secrets and congestion windows of the ends that have finished.
    pub fn show(&mut self, onlooker: Option<&dyn Onlooker>) {
        let Some(onlooker) = onlooker else { return };
        let observer = onlooker.observer();
        self.keys.lines().for_each(|line| observer.tls_key(line));
        self.windows.drain(..).for_each(|(side, windows)| onlooker.windows(side, windows));
    }

    /// The process of an end, if it belongs to this program: the first one of the clients.
    pub fn process(&self, role: Role) -> Option<u32> {
        self.processes.iter().find(|end| end.role == role).map(|end| end.child.id())
    }

    /// Checks that the ends are working, while no message is expected.
    ///
    /// # Errors
    /// If one has failed or is gone.
    pub fn check(&mut self) -> Result<(), String> {
        while let Ok((end, heard)) = self.reports.try_recv() {
            match heard {
                Ok(Report::Alive) => {}
                Ok(Report::Failed(why)) => return Err(why),
                Ok(_) => return Err(self.out_of_turn(end)),
                Err(why) => return Err(self.processes[end].exit_reason(&why)),
            }
        }
        Ok(())
    }

    /// The next message other than [`Report::Alive`]. Silence for too long is an error: a stopped
    /// end, or one without processor time, will not do its work.
    fn next(
        &mut self,
        mut watch: impl FnMut() -> Result<(), String>,
    ) -> Result<(usize, Report), String> {
        self.processes.iter_mut().for_each(|end| end.silent = Duration::ZERO);
        loop {
            let begun = self.clock.now();
            let heard = self.reports.recv_timeout(self.period);
            // If this process itself was stopped meanwhile, that is not the ends' silence.
            let passed = self.clock.now().since(begun).min(self.period * 2);
            self.processes.iter_mut().for_each(|end| end.silent += passed);
            match heard {
                Ok((end, Ok(Report::Alive))) => {
                    self.processes[end].silent = Duration::ZERO;
                }
                Ok((_, Ok(Report::Left(addresses)))) => self.withdraw(&addresses),
                Ok((_, Ok(Report::Failed(why)))) => return Err(why),
                Ok((end, Ok(report))) => return Ok((end, report)),
                // Clients that have finished may exit.
                Ok((end, Err(_))) if self.processes[end].is_done => {}
                Ok((end, Err(why))) => return Err(self.processes[end].exit_reason(&why)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.check_silence()?;
            watch()?;
        }
    }

    fn withdraw(&self, addresses: &[IpAddr]) {
        if let Some(links) = &self.links {
            addresses.iter().for_each(|address| links.withdraw(*address));
        }
    }

    fn check_silence(&self) -> Result<(), String> {
        let is_silent = |end: &&Process| !end.is_done && end.silent > SILENCE_MAX;
        self.processes.iter().find(is_silent).map_or(Ok(()), |end| {
            let (name, limit) = (name(end.role), SILENCE_MAX.as_secs());
            Err(format!("{name} has been silent for {limit} s: it hangs or was stopped"))
        })
    }

    /// Tells it to the ends with this role, and returns their number.
    fn tell(&mut self, role: Role, words: &impl serde::Serialize) -> usize {
        let mut told = 0;
        for end in self.processes.iter_mut().filter(|end| end.role == role) {
            end.tell(words);
            told += 1;
        }
        told
    }

    fn is(&self, end: usize, role: Role) -> bool {
        self.processes[end].role == role
    }

    fn out_of_turn(&self, end: usize) -> String {
        format!("{} sent an unexpected message", name(self.processes[end].role))
    }
}

/// The place of the server among the processes, if it belongs to this program.
const SERVER: usize = 0;

/// An end's process. It ends when this is dropped.
struct Process {
    role: Role,
    child: Child,
    input: Option<ChildStdin>,
    /// How long it has been silent.
    silent: Duration,
    is_done: bool,
}

impl Process {
    fn start(
        namespace: &NetNamespace,
        job: &Job,
        (end, reports): (usize, Sender<(usize, Heard)>),
    ) -> Result<Process, String> {
        let role = job.role;
        let spawn = || {
            Command::new("/proc/self/exe")
                .arg(ENDPOINT)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                // Ctrl-C lets a run that has begun finish.
                .process_group(0)
                .spawn()
        };
        let spawned = namespace.run(spawn).map_err(|why| why.to_string())?;
        let failed = |why| format!("{} could not be started: {why}", name(role));
        let mut child = spawned.map_err(failed)?;
        let input = child.stdin.take();
        let output = child.stdout.take().expect("it was asked for");
        let mut process = Process { role, child, input, silent: Duration::ZERO, is_done: false };
        let listening = thread::Builder::new().name("end".to_owned());
        listening.spawn(move || listen(end, output, &reports)).map_err(failed)?;
        process.tell(job);
        Ok(process)
    }

    /// If this fails, the end has exited, which its reader will report.
    fn tell(&mut self, words: &impl serde::Serialize) {
        let mut line = serde_json::to_vec(words).expect("what ends are told is plain data");
        line.push(b'\n');
        let _ = self.input.as_mut().map(|input| input.write_all(&line));
    }

    /// Why a process ended unexpectedly.
    fn exit_reason(&mut self, why: &str) -> String {
        let _ = self.child.kill();
        let mut last_words = String::new();
        if let Some(errors) = self.child.stderr.take() {
            let _ = errors.take(LAST_WORDS_MAX).read_to_string(&mut last_words);
        }
        let status = self.child.wait();
        let status = status.map_or_else(|why| why.to_string(), |status| status.to_string());
        format!("{} died ({status}{why}): {}", name(self.role), last_words.trim())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may have exited long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Forwards an end's messages until its output ends or the receiver is gone.
fn listen(end: usize, output: ChildStdout, reports: &Sender<(usize, Heard)>) {
    let mut output = BufReader::new(output);
    let mut line = String::new();
    loop {
        line.clear();
        let heard = match output.read_line(&mut line) {
            Ok(1..) => serde_json::from_slice(line.as_bytes())
                .map_err(|why| format!(", after an invalid message: {why}")),
            Ok(0) | Err(_) => Err(String::new()),
        };
        let is_last = heard.is_err();
        if reports.send((end, heard)).is_err() || is_last {
            return;
        }
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Server => "the server",
        Role::Client => "the clients' process",
    }
}

/// A working end reports every second; on a crowded machine it may be late.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Interval between checks for silent ends.
const LISTENING: Duration = Duration::from_secs(3);

/// The same for a third-party end, which does not report when it ends.
const WATCHING: Duration = Duration::from_millis(100);

/// Time for a word to reach all ends before they act on it.
const WORD: Duration = Duration::from_millis(5);

/// Limit of a dead process's standard error, in bytes.
const LAST_WORDS_MAX: u64 = 1 << 16;

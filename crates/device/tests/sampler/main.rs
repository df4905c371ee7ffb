//! Readings of recorded boards, whose values are worked out by hand, and of this machine.

mod here;

use std::fs;

use trackbed_device::monitor::{MemoryKind, Named, Sampler, Units};

struct Board(tempfile::TempDir);

impl Board {
    /// From a recording: a line `== PATH` before the content of each file.
    fn new(recording: &str) -> Board {
        let board = Board(tempfile::tempdir().unwrap());
        for file in recording.split("\n== ").skip(1) {
            let (path, content) = file.split_once('\n').unwrap();
            board.write(path, content);
        }
        board
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_dir_all(self.0.path().join(path)).unwrap();
    }

    fn sampler(&self) -> Sampler {
        Sampler::new(self.0.path(), Units { ticks_per_second: 100, page_bytes: 16_384 })
    }
}

fn named(values: &[(&str, f64)]) -> Vec<Named> {
    values.iter().map(|(name, value)| Named { name: (*name).to_owned(), value: *value }).collect()
}

const SECOND: u64 = 1_000_000_000;
const PI: &str = include_str!("boards/raspberry-pi-5.txt");
const ORIN: &str = include_str!("boards/jetson-orin-nano.txt");

#[test]
fn a_raspberry_pi_5_is_read_as_it_is_laid_out() {
    let board = Board::new(PI);
    let mut sampler = board.sampler();
    let machine = sampler.sample(SECOND).machine;
    assert_eq!((machine.cores, machine.cpu_percent), (Some(4), None));
    assert_eq!(machine.memory_total_bytes, Some(8_255_568 * 1024));
    assert_eq!(machine.memory_used_bytes, Some(1_048_576 * 1024));
    assert_eq!(machine.frequencies_mhz, named(&[("cpu0-3", 2400.0)]));
    let heat = [("cpu-thermal", 61.45), ("rp1_adc temp1", 53.894)];
    assert_eq!(machine.temperatures_c, named(&heat));
    assert_eq!(machine.powers_w, []);
    assert_eq!(machine.gpus, []);
    // A second later: 300 of 400 ticks were busy.
    let stat = PI.split("== proc/stat\n").nth(1).unwrap();
    let later =
        stat.replace("cpu  10000 0 2000 80000 500 0 100", "cpu  10250 0 2040 80080 520 0 110");
    board.write("proc/stat", later.split("\n== ").next().unwrap());
    assert_eq!(sampler.sample(2 * SECOND).machine.cpu_percent, Some(300.0));
}

#[test]
fn a_jetson_orin_nano_is_read_as_it_is_laid_out() {
    let board = Board::new(ORIN);
    let machine = board.sampler().sample(SECOND).machine;
    assert_eq!(machine.cores, Some(6));
    assert_eq!(machine.frequencies_mhz, named(&[("cpu0-3", 1510.4), ("cpu4-5", 729.6)]));
    let heat = [
        ("cpu-thermal", 51.468),
        ("gpu-thermal", 49.812),
        ("tj-thermal", 51.468),
        ("tmp451 board", 38.0),
    ];
    assert_eq!(machine.temperatures_c, named(&heat));
    // 5.016 V x 1.25 A; the sum of shunt voltages is no supply.
    let powers = [("VDD_IN", 6.27), ("VDD_CPU_GPU_CV", 2.0), ("VDD_SOC", 1.4)];
    assert_eq!(machine.powers_w, named(&powers));
    let [gpu] = machine.gpus.as_slice() else { panic!("{:?}", machine.gpus) };
    assert_eq!((gpu.name.as_str(), gpu.load_percent), ("gpu", Some(63.7)));
    assert_eq!((gpu.frequency_mhz, gpu.power_w), (Some(624.75), None));
}

#[test]
fn roles_are_trees_of_processes() {
    let board = Board::new(PI);
    let mut sampler = board.sampler();
    sampler.add("inference", 700);
    sampler.add("server", 900);
    let first = sampler.sample(SECOND).roles;
    let summary: Vec<_> = first.iter().map(|role| (role.name.as_str(), role.processes)).collect();
    assert_eq!(summary, [("inference", 2), ("server", 1)]);
    assert_eq!((first[0].cpu_percent, first[0].cpu_seconds), (None, 0.0));
    // 200,000 + 12,000 kB of parts; the server reports none, so its 2,500 pages count.
    assert_eq!(first[0].memory_bytes, Some(212_000 * 1024));
    assert_eq!(first[0].memory_kind, Some(MemoryKind::Pss));
    assert_eq!(first[1].memory_bytes, Some(2_500 * 16_384));
    assert_eq!(first[1].memory_kind, Some(MemoryKind::Rss));

    // Half a second later: 130 ticks of one, 15 of its child; the server has ended.
    let stat = |pid: u32, parent: u32, own: u64, start: u64| {
        let rest = format!("{own} 0 0 0 20 0 1 0 {start} 1000 100");
        board.write(
            &format!("proc/{pid}/stat"),
            &format!("{pid} (p) R {parent} 0 0 0 -1 0 0 0 0 0 {rest}\n"),
        );
    };
    stat(700, 1, 5_330, 40_000);
    stat(701, 700, 30, 40_100);
    board.remove("proc/900");
    let second = sampler.sample(SECOND + SECOND / 2).roles;
    assert_eq!(second[0].cpu_percent, Some(290.0));
    assert_eq!(second[0].cpu_seconds, 1.45);
    assert_eq!((second[1].processes, second[1].cpu_percent), (0, None));
    assert_eq!(second[1].memory_bytes, None);

    // Another process has its number now.
    stat(900, 1, 7_777, 99_000);
    let third = sampler.sample(2 * SECOND).roles;
    assert_eq!((third[1].processes, third[1].cpu_percent), (0, None));
}

#[test]
fn what_a_container_hides_is_absent() {
    let board = Board::new("");
    let mut sampler = board.sampler();
    sampler.add("server", 1);
    for second in 1..3 {
        let reading = sampler.sample(second * SECOND);
        assert_eq!(reading.machine, trackbed_device::monitor::Machine::default());
        assert_eq!((reading.roles[0].processes, reading.roles[0].memory_bytes), (0, None));
    }
    // In part: no memory, no sensors, damaged files.
    board.write("proc/stat", "cpu  1 2 3 4\n");
    board.write("proc/meminfo", "MemTotal: lots\n");
    board.write("sys/class/thermal/thermal_zone0/temp", "40000\n");
    let machine = board.sampler().sample(3 * SECOND).machine;
    assert_eq!((machine.cores, machine.memory_total_bytes), (Some(1), None));
    assert_eq!(machine.temperatures_c, []);
}

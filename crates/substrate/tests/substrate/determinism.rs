//! The same seed gives the same packets at the same nanoseconds.

use crate::support::*;

/// The digest of every packet of a run with TCP, UDP, loss, timers and entropy.
fn digest(run: &u64) -> Result<String, RunError> {
    let seed = Seed::of_run(42, *run);
    let spec = link(Bitrate::from_mbps(20), Duration::from_millis(7), 40_000)
        .with(Loss::bernoulli(Ratio::from_parts(1, 100)));
    let digest = PacketDigest::default();
    let mut network = pair_by(&spec, &seed);
    network.set_tap(digest.tap());
    Simulation::new().run(seed, network, mixed)?;
    Ok(digest.hex())
}

async fn mixed(hosts: Hosts) {
    let [client, server] = ["client", "server"].map(|name| hosts.get(name).unwrap());
    let options = TcpOptions::default();
    spawn(echo(server.bind_udp(address(SERVER, 7)).unwrap())).detach();
    let listener = server.listen_tcp(address(SERVER, 80), &options).unwrap();
    spawn(async move {
        loop {
            let mut stream = listener.accept().await.unwrap();
            spawn(async move {
                let data = read_all(&mut stream).await;
                stream.write_all(&data).await.unwrap();
            })
            .detach();
        }
    })
    .detach();
    let downloads: Vec<_> = (0..4)
        .map(|n| {
            let client = client.clone();
            let options = options.clone();
            spawn(async move {
                let Entropy::Seeded(entropy) = client.entropy() else { panic!("not seeded") };
                let mut data = vec![0; 50_000 * n];
                entropy.fill(&mut data).unwrap();
                let connect = client.connect_tcp(None, address(SERVER, 80), &options);
                let mut stream = connect.await.unwrap();
                stream.write_all(&data).await.unwrap();
                stream.close().await.unwrap();
                let back = read_all(&mut stream).await;
                assert!(back == data);
            })
        })
        .collect();
    let socket = client.bind_udp(address(CLIENT, 0)).unwrap();
    for n in 0..200_u32 {
        send(&*socket, address(SERVER, 7), &n.to_be_bytes()).await.unwrap();
        sleep(Duration::from_micros(u64::from(fastrand::u16(..)))).await;
    }
    receive(&*socket).await.unwrap();
    for download in downloads {
        download.await;
    }
}

#[test]
fn a_seed_gives_the_same_run_however_many_run_at_once_and_another_seed_another() {
    let all = |at_once| -> Vec<String> {
        all_of(0..8, at_once, digest).into_values().map(Result::unwrap).collect()
    };
    let one_at_a_time = all(1);
    assert_eq!(one_at_a_time, all(4));
    assert_eq!(one_at_a_time, all(8));
    assert_ne!(one_at_a_time[1], one_at_a_time[2]);
}

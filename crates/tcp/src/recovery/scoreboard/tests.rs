use bytes::Bytes;

use super::*;

fn board(segments: u32) -> Scoreboard {
    let mut board = Scoreboard::new();
    for index in 0..segments {
        let mut sent = Sent::new(Seq(index * 10), Bytes::from(vec![index as u8; 10]), false);
        sent.sent_at = Time::from_millis(index.into());
        board.push(sent);
    }
    board
}

fn sack(board: &mut Scoreboard, start: u32, end: u32) -> u32 {
    let (mut from, end) = board.covered_by(SackBlock { start: Seq(start), end: Seq(end) });
    let mut newly = 0;
    while let Some(id) = board.next_unsacked(from, end) {
        board.mark_sacked(id);
        newly += 1;
        from = id + 1;
    }
    newly
}

fn by_time(board: &Scoreboard) -> Vec<Id> {
    let mut ids = Vec::new();
    let mut next = board.oldest_sent();
    while let Some(id) = next {
        ids.push(id);
        next = board.sent_after(id);
    }
    ids
}

#[test]
fn a_block_marks_what_it_covers_wholly_and_only_once() {
    let mut board = board(10);
    assert_eq!(sack(&mut board, 35, 68), 2);
    assert_eq!(board.highest_sacked(), Some(Seq(60)));
    assert_eq!(sack(&mut board, 20, 80), 4);
    assert_eq!(sack(&mut board, 20, 80), 0);
    assert_eq!(board.sacked, BTreeMap::from([(2, 8)]));
    assert_eq!((board.sacked_out(), board.in_flight()), (6, 4));
    for _ in 0..4 {
        board.pop_front();
    }
    board.forget_acknowledged();
    assert_eq!(board.sacked, BTreeMap::from([(4, 8)]));
    assert_eq!((board.len(), board.in_flight()), (6, 2));
}

#[test]
fn a_lost_segment_waits_until_it_is_sent_again_and_then_is_the_latest() {
    let mut board = board(5);
    sack(&mut board, 30, 50);
    board.mark_lost(2);
    board.mark_lost(0);
    assert_eq!(board.in_flight(), 1);
    assert_eq!(board.next_waiting(), Some(0));
    board.mark_retransmitted(0, Time::from_millis(50), 0, true);
    assert_eq!(board.next_waiting(), Some(2));
    assert_eq!(board.in_flight(), 2);
    assert_eq!(by_time(&board), [1, 0]);
    board.mark_lost(0);
    assert_eq!((board.next_waiting(), board.in_flight()), (Some(0), 1));
    board.unmark_lost();
    assert_eq!((board.next_waiting(), board.in_flight()), (None, 3));
    assert_eq!(by_time(&board), [1, 2, 0]);
}

#[test]
fn an_overtaken_segment_is_looked_at_again_only_when_it_is_retransmitted() {
    let mut board = board(4);
    board.mark_overtaken(0);
    board.mark_overtaken(1);
    board.mark_lost(2);
    board.unmark_lost();
    assert_eq!((board.next_waiting(), board.in_flight()), (None, 4));
    assert_eq!(by_time(&board), [2, 3]);
    board.mark_lost(1);
    board.mark_retransmitted(1, Time::from_millis(9), 0, true);
    assert_eq!(by_time(&board), [2, 3, 1]);
    board.unmark_lost();
    assert_eq!(by_time(&board), [2, 3, 1]);
}

#[test]
fn what_is_too_long_is_cut_and_lost_and_the_rest_keeps_marks_and_order() {
    let mut board = board(3);
    board.mark_lost(1);
    board.mark_retransmitted(1, Time::from_millis(9), 0, true);
    sack(&mut board, 20, 30);
    board.push(Sent::new(Seq(30), Bytes::from(vec![3; 25]), false));
    assert!(!board.split(25));
    assert_eq!((board.lost_out, by_time(&board)), (1, vec![0, 3, 1]));
    assert!(board.split(10));
    assert_eq!((board.len(), board.sacked_out(), board.lost_out, board.lost_total), (6, 1, 4, 4));
    assert_eq!((board.next_waiting(), by_time(&board)), (Some(3), vec![0, 1]));
    let ends: Vec<u32> = (0..6).map(|id| board.get(id).unwrap().end().0).collect();
    assert_eq!(ends, [10, 20, 30, 40, 50, 55]);
    // What is selectively acknowledged is not lost; what is lost is not lost again before it is sent.
    assert!(board.split(4));
    assert_eq!((board.sacked_out(), board.lost_out, board.lost_total), (3, 14, 10));
    assert_eq!((board.retransmitted_out, by_time(&board)), (0, vec![]));
}

#[test]
fn a_retransmission_that_is_cut_into_equal_pieces_is_lost_and_the_next_segment_is_not() {
    let mut board = Scoreboard::new();
    board.push(Sent::new(Seq(0), Bytes::from(vec![0; 20]), false));
    board.push(Sent::new(Seq(20), Bytes::from(vec![1; 10]), false));
    board.mark_lost(0);
    board.mark_retransmitted(0, Time::from_millis(9), 0, true);
    board.unmark_lost();
    assert!(board.split(10));
    assert_eq!((board.len(), board.lost_out, board.lost_total), (3, 2, 3));
    assert_eq!((board.retransmitted_out, board.in_flight()), (0, 1));
    assert_eq!((board.next_waiting(), by_time(&board)), (Some(0), vec![2]));
}

/// Linux: `tcp_limit_reno_sacked` leaves a hole, and one for each lost segment.
#[test]
fn duplicates_count_for_what_may_have_arrived_and_no_more() {
    let mut board = board(4);
    assert_eq!([(); 5].map(|()| board.add_dupack()), [true, true, true, false, false]);
    assert_eq!(board.sacked_out(), 3);
    board.mark_lost(0);
    assert_eq!(board.in_flight(), 0);
    // Two are acknowledged: the hole, and one that a duplicate had counted.
    board.pop_front();
    board.pop_front();
    assert_eq!(board.remove_dupacks(2), (1, true));
    assert_eq!(board.sacked_out(), 1);
}

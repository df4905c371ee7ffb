//! Codes of CoAP and status codes of HTTP (RFC 8075 section 7).
//!
//! The client errors listed in [`status()`] and 5.00 to 5.04 have the same numbers in both (4.04 is
//! 404). 4.01 is 403, 4.02 is 400 and 5.05 is 502. Of the successes, 2.01 is 201, 2.02 is 204, 2.03
//! is 304, and 2.04 and 2.05 are 200. Other codes count as the first of their class (RFC 7252
//! section 5.9). A status that its code does not preserve is also sent in an elective option of the
//! experimental range ([`EXACT_STATUS`](super::options::EXACT_STATUS)), which other implementations
//! ignore.

/// A code: its class in the upper three bits, its detail in the others (RFC 7252 section 3).
pub(super) const fn code(class: u8, detail: u8) -> u8 {
    class << 5 | detail
}

pub(super) const EMPTY: u8 = code(0, 0);
pub(super) const GET: u8 = code(0, 1);
pub(super) const POST: u8 = code(0, 2);
pub(super) const PUT: u8 = code(0, 3);
pub(super) const CHANGED: u8 = code(2, 4);
pub(super) const CONTENT: u8 = code(2, 5);
pub(super) const CONTINUE: u8 = code(2, 31);
pub(super) const BAD_REQUEST: u8 = code(4, 0);
pub(super) const BAD_OPTION: u8 = code(4, 2);
pub(super) const METHOD_NOT_ALLOWED: u8 = code(4, 5);
pub(super) const INCOMPLETE: u8 = code(4, 8);
pub(super) const TOO_LARGE: u8 = code(4, 13);
pub(super) const SERVER_ERROR: u8 = code(5, 0);
pub(super) const UNAVAILABLE: u8 = code(5, 3);
pub(super) const PROXYING: u8 = code(5, 5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Empty,
    Request,
    Response,
    /// Nothing yet: such a message is malformed.
    Reserved,
}

/// The class of a code (RFC 7252 section 3).
pub(super) fn class(code: u8) -> Class {
    match code >> 5 {
        0 if code == EMPTY => Class::Empty,
        0 => Class::Request,
        2 | 4 | 5 => Class::Response,
        _ => Class::Reserved,
    }
}

pub(super) fn is_success(code: u8) -> bool {
    code >> 5 == 2
}

/// The code for a status, in answer to a request with or without a body.
pub(super) fn of_status(status: u16, has_body: bool) -> u8 {
    let success = if has_body { CHANGED } else { CONTENT };
    match status {
        201 => code(2, 1),
        200..=299 => success,
        304 => code(2, 3),
        400 | 401 | 403..=406 | 408 | 409 | 412 | 413 | 415 | 422 | 429 => {
            code(4, (status - 400) as u8)
        }
        400..=499 => BAD_REQUEST,
        500..=504 => code(5, (status - 500) as u8),
        _ => SERVER_ERROR,
    }
}

pub(super) fn status(code: u8) -> u16 {
    let detail = u16::from(code & 31);
    match code >> 5 {
        2 => match detail {
            1 => 201,
            2 => 204,
            3 => 304,
            _ => 200,
        },
        4 => match detail {
            1 => 403,
            3..=6 | 8 | 9 | 12 | 13 | 15 | 22 | 29 => 400 + detail,
            _ => 400,
        },
        _ => match detail {
            1..=4 => 500 + detail,
            5 => 502,
            _ => 500,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8075 section 7, table 2, where it has one answer.
    #[test]
    fn codes_mean_what_rfc_8075_says() {
        let table = "2.01=201 2.03=304 2.04=200 2.05=200 4.00=400 4.01=403 4.02=400 4.03=403 4.04=404 4.06=406 \
                     4.12=412 4.13=413 4.15=415 5.00=500 5.01=501 5.02=502 5.03=503 5.04=504 5.05=502";
        for row in table.split(' ') {
            let number = |text: &str| text.parse::<u8>().unwrap();
            let (written, expected) = row.split_once('=').unwrap();
            let (class, detail) = written.split_once('.').unwrap();
            let found = status(code(number(class), number(detail)));
            assert_eq!(found.to_string(), expected, "{written}");
        }
    }

    #[test]
    fn every_status_has_a_code_of_a_response_and_of_its_kind() {
        for number in 200..=999 {
            let code = of_status(number, true);
            assert_eq!(class(code), Class::Response);
            assert_eq!(is_success(code), (200..300).contains(&number) || number == 304);
        }
        for number in [200, 201, 400, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503] {
            assert_eq!(status(of_status(number, false)), number);
        }
    }

    #[test]
    fn classes_are_those_of_rfc_7252() {
        assert_eq!(class(0), Class::Empty);
        assert_eq!(class(GET), Class::Request);
        assert_eq!([class(CONTENT), class(BAD_OPTION), class(PROXYING)], [Class::Response; 3]);
        assert_eq!([class(1 << 5), class(3 << 5), class(6 << 5), class(255)], [Class::Reserved; 4]);
    }
}

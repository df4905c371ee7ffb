use std::fs;

use trackbed_measure::keylog::KeyLog;

use crate::scratch_file;

#[test]
fn a_saved_key_log_replaces_the_old_one_and_is_for_its_owner_alone() {
    let path = scratch_file("keys.log");
    let _ = fs::remove_file(&path);
    let log = KeyLog::default();
    log.push("A 01 02\nB 03 04");
    log.save(&path).unwrap();
    log.save(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "A 01 02\nB 03 04\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::remove_file(&path).unwrap();
    assert!(log.save(&path.join("not-a-folder")).is_err());
}

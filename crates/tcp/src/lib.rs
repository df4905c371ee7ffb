//! A sans-IO TCP engine with real segments and Linux-grade loss recovery.

//! Link models, queues and topology: when, and whether, a packet comes out.

use super::*;

/// The next commands, without their zero bytes.
fn said(conversation: &mut Conversation) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some(mut bytes) = conversation.say() {
        assert_eq!(bytes.pop(), Some(0));
        all.push(serde_json::from_slice(&bytes).unwrap());
    }
    all
}

fn hear(conversation: &mut Conversation, message: &Value) -> Result<(), String> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    // Messages arrive in pieces.
    let (front, behind) = bytes.split_at(bytes.len() / 2);
    conversation.hear(front)?;
    conversation.hear(behind)
}

/// Answers every command like a browser, up to but excluding the one called `last`.
fn answer_until(conversation: &mut Conversation, last: &str) {
    loop {
        let commands = said(conversation);
        let [command] = &commands[..] else { panic!("one command at a time: {commands:?}") };
        if command["method"] == last {
            return;
        }
        let result = match command["method"].as_str().unwrap() {
            "Target.createTarget" => json!({ "targetId": "T" }),
            "Target.attachToTarget" => json!({ "sessionId": "S" }),
            "Page.navigate" => {
                assert_eq!(command["params"]["url"], URL);
                json!({ "frameId": "F" })
            }
            "Performance.getMetrics" => {
                json!({ "metrics": [{ "name": "NavigationStart", "value": 12.5 }] })
            }
            _ => json!({}),
        };
        let id = &command["id"];
        hear(conversation, &json!({ "id": id, "result": result })).unwrap();
        if command["method"] == "Page.navigate" {
            assert!(said(conversation).is_empty(), "the page is waited for");
            hear(conversation, &json!({ "method": "Page.loadEventFired" })).unwrap();
        }
    }
}

fn times(status: u16) -> Value {
    let objects = json!([
        { "url": URL, "protocol": "h3", "status": 200, "bytes": 10, "found": 0.0,
          "requested": 0.0,
          "first": 600.5, "done": 700.0 },
        { "url": "https://server.test/late.png", "protocol": "h3", "status": 200, "bytes": 30,
          "found": 720.0,
          "requested": 720.0, "first": 930.0, "done": 940.0 },
        { "url": "https://server.test/a.css?x=1", "protocol": "h3", "status": status, "bytes": 20,
          "found": 710.0,
          "requested": 710.0, "first": 910.0, "done": 911.0 },
    ]);
    let text = json!({ "loaded": 950.0, "paint": 912.0, "objects": objects }).to_string();
    json!({ "result": { "type": "string", "value": text } })
}

const URL: &str = "https://server.test/page";

#[test]
fn a_page_is_loaded_and_its_times_are_asked_for() {
    let mut conversation = Conversation::about(URL.to_owned());
    answer_until(&mut conversation, "Performance.getMetrics");
    let metrics = json!({ "metrics": [{ "name": "NavigationStart", "value": 12.5 }] });
    let id = conversation.command;
    hear(&mut conversation, &json!({ "id": id, "result": metrics })).unwrap();
    let ask = &said(&mut conversation)[0];
    assert_eq!((&ask["method"], &ask["sessionId"]), (&"Runtime.evaluate".into(), &"S".into()));
    let id = conversation.command;
    hear(&mut conversation, &json!({ "id": id, "result": times(200) })).unwrap();
    let close = &said(&mut conversation)[0];
    assert_eq!((&close["method"], &close["sessionId"]), (&"Browser.close".into(), &Value::Null));
    let visited = Box::new(conversation).finish().unwrap();
    assert_eq!(visited.begin, Some(Time::from_millis(12_500)));
    let page = visited.page.unwrap();
    assert_eq!(page.loaded, Duration::from_millis(950));
    assert_eq!(page.first_paint, Some(Duration::from_millis(912)));
    let paths: Vec<&str> = visited.fetched.iter().map(|fetched| &fetched.path[..]).collect();
    assert_eq!(paths, ["/page", "/a.css?x=1", "/late.png"]);
    assert_eq!(visited.fetched[0].first_byte, Duration::from_micros(600_500));
    assert!(visited.fetched.iter().all(|fetched| fetched.protocol == "http3"));
}

#[test]
fn what_goes_wrong_is_told_in_words() {
    let prepared = |last: &str| {
        let mut conversation = Conversation::about(URL.to_owned());
        answer_until(&mut conversation, last);
        conversation
    };
    let mut refused = prepared("Page.navigate");
    let id = refused.command;
    let answer = json!({ "id": id, "result": { "errorText": "net::ERR_CONNECTION_REFUSED" } });
    let why = hear(&mut refused, &answer).unwrap_err();
    assert!(why.contains("could not be loaded: net::ERR_CONNECTION_REFUSED"), "{why}");

    let mut crashed = prepared("Page.navigate");
    let why = hear(&mut crashed, &json!({ "method": "Inspector.targetCrashed" })).unwrap_err();
    assert!(why.contains("crashed"), "{why}");

    let mut partly = prepared("Performance.getMetrics");
    let entry = json!({ "text": "Failed: net::ERR_QUIC", "url": "https://server.test/a.css?x=1" });
    hear(&mut partly, &json!({ "method": "Log.entryAdded", "params": { "entry": entry } }))
        .unwrap();
    partly.visited = Some(visited(Time::ZERO, &times(0)).unwrap());
    let why = Box::new(partly).finish().unwrap_err();
    assert!(why.contains("/a.css?x=1 could not be fetched: Failed: net::ERR_QUIC"), "{why}");

    let early = Box::new(prepared("Page.navigate")).finish().unwrap_err();
    assert!(early.contains("ended before its page was there (Navigate)"), "{early}");

    for nonsense in [&b"{\0"[..], b"\0", b"nonsense\0"] {
        assert!(prepared("Page.navigate").hear(nonsense).is_err());
    }
    let mut refusing = prepared("Page.enable");
    let answer = json!({ "id": refusing.command, "error": { "message": "no such command" } });
    assert!(hear(&mut refusing, &answer).unwrap_err().contains("no such command"));
}

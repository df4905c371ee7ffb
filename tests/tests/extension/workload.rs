//! Polls: a phone asks for news, again and again.

use std::path::Path;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use trackbed_connection::{Error, Request, Response, Service, body};
use trackbed_core::{Arguments, Event, EventLog, Parameter, parameters};
use trackbed_substrate::now;
use trackbed_workloads::{Expectation, Prepared, Site, Stage, Workload, WorkloadError};

pub static ENTRY: Workload = Workload {
    name: "polls",
    summary: "a phone asks for news, again and again",
    parameters: || PARAMETERS,
    communicates: true,
    follows_environment: false,
    ranking: &[("", &["completion_ms"])],
    prepare,
};

const PARAMETERS: &[Parameter] = parameters! {
    "count": Count { min: 1 } = "10" => "how often it asks";
};

fn prepare(given: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
    let count: u64 = given.need("count");
    Ok(Box::new(Poll { count: count.try_into().unwrap_or(u32::MAX) }))
}

struct Poll {
    count: u32,
}

impl Prepared for Poll {
    fn phones(&self) -> u32 {
        1
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        let answer = || Response { status: 200, body: body::full("news") };
        Rc::new(move |_: Request| std::future::ready(answer()))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            stage.log.record(now(), Event::Started);
            if let Err(why) = self.ask(&stage).await {
                let reason = why.to_string();
                stage.log.record(now(), Event::Failed { phone: 0, message: 0, reason });
            }
            stage.log.record(now(), Event::Finished);
        })
    }

    fn site(&self) -> Result<Site, String> {
        Err("only our own server has news".to_owned())
    }

    fn expectation(&self) -> Option<Expectation> {
        Some(Expectation { longest: 0, connections: 1, exchanges: self.count })
    }
}

impl Poll {
    async fn ask(&self, stage: &Stage) -> Result<(), Error> {
        let connection = stage.phones[0].connect(stage.server).await?;
        for message in 0..self.count {
            let intended = now();
            stage.log.record(intended, Event::Sent { phone: 0, message, intended, bytes: 0 });
            let response = connection.exchange(Request::new("/news", body::empty())).await?;
            body::drain(response.body).await?;
            let status = response.status;
            stage.log.record(now(), Event::Answered { phone: 0, message, status });
        }
        connection.close().await;
        Ok(())
    }
}

//! A lifecycle for this module alone, of which hardly anything is used.

steps::lifecycle! {
    struct Job in "jobs";
    struct JobRow { id: i64 }
    enum AnyJob: JobStatus {
        Open,
        Done { by: String },
    }
    transitions {
        finish: Open -> Done by by;
    }
}

pub(crate) mod inner {
    steps::lifecycle! {
        pub(crate) struct Task in "tasks";
        pub(crate) struct TaskRow { id: i64 }
        pub(crate) enum AnyTask: TaskStatus { Todo, Ended }
        transitions { end: Todo -> Ended; }
    }
}

/// Some methods are used, others of the same name are not.
#[allow(dead_code)]
fn finish(job: Job<Open>) -> steps::Attempt<impl Sized> {
    job.finish(String::new())
}

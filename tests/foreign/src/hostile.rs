//! Names that generated code must survive.

steps::lifecycle! {
    /// The trait of the same name is not meant.
    pub struct State in "handles" (updated_at = "touched");
    pub struct Lifecycle { db: i64, tx: i64 guard, after: i64 guard, limit: i64 guard, r#type: std::string::String, name: std::option::Option<std::string::String>  }
    pub enum Handle: Status {
        None,
        Some { from: std::string::String, new: i64, own: std::option::Option<i64>, order: std::string::String, arguments: std::string::String },
        Ok: Some { columns: i64, facts: i64, map: std::vec::Vec<u8>, r#match: i64, seal: i64, edit: i64, data: i64, any: i64 },
        Error: Ok,
        Option,
        String: Option { transition: i64, guard: i64, key: i64 },
        Result: Some,
        Vec,
        Box,
        S,
        B { f: i64 },
        D { a: i64, b: i64, c: i64, d: i64, e: i64, g: i64, h: i64, i: i64 },
        M,
        Z,
        Send,
        Clone,
        Debug,
        PartialEq,
        Default,
        Self_,
    }
    transitions {
        begin_: None -> Some by (from, new);
        r#try: Some -> Ok by columns;
        fail: Ok -> Error;
        opt: None -> Option;
        string: Option -> String;
        result: Some | Ok -> Result;
        vec: None -> Vec;
        boxed: None -> Box;
        s: None -> S;
        b: None -> B by f;
        d: None -> D;
        m: None -> M;
        z: None -> Z;
        send: None -> Send;
        state: None -> Clone;
        view: None -> Debug;
        with_row: None -> PartialEq;
        default_: None -> Default;
        widen: None -> Self_;
    }
}

macro_rules! tickets {
    ($(#[$attribute:meta])* $vis:vis $name:ident in $table:literal, $row:ident, $key:ty, $fact:ty, $column:expr) => {
        steps::lifecycle! {
            $(#[$attribute])*
            $vis struct $name in $table;
            $vis struct $row { id: $key, note: $fact = $column }
            $vis enum AnyTicket: TicketStatus { Open { opened_by: $fact }, Closed: Open { closed_by: std::string::String } }
            transitions { close: Open -> Closed by closed_by; }
        }
    };
}

/// Written by a macro of the user's.
pub mod tickets {
    tickets!(
        /// A ticket.
        pub Ticket in "tickets", TicketRow, u32, Option<String>, "remark"
    );
}

/// Inside of a function.
#[must_use]
pub fn local() -> usize {
    steps::lifecycle! {
        struct Job in "jobs";
        struct JobRow { id: i64 }
        enum AnyJob: JobStatus { Waiting, Running { by: i64 } }
        transitions { start: Waiting -> Running by by; }
    }
    JobStatus::Running as usize + std::mem::size_of::<AnyJob>()
}

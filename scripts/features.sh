# Everything but the TLS stacks, which tests and checks have no use for. Sourced by the scripts beside it.
features=sqlite,postgres,mysql,uuid,chrono,time,rust_decimal,json,redis,testkit

include!("mean.in");

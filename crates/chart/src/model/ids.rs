//! Indices into a chart's lists. They mean nothing outside the chart they were made for.

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u16);

        impl $name {
            /// The id of the list's element at `position`. A chart has fewer than 65,536 of anything; the reader sees to it.
            pub fn at(position: usize) -> Self {
                Self(u16::try_from(position).unwrap_or(u16::MAX))
            }

            /// The position in the list.
            pub fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    )*};
}

index! {
    /// A state.
    StateId,
    /// A transition.
    TransitionId,
    /// An event name.
    EventId,
    /// A counter.
    CounterId,
    /// An activity that a state starts.
    InvokeId,
    /// A variable of the context.
    VarId,
}

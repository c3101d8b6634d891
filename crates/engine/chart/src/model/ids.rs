//! Indices into a chart's lists. They are meaningless outside their chart.

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u16);

        impl $name {
            /// Returns the id of the list's element at `position`. The reader ensures that every list of a chart has
            /// fewer than 65,536 elements.
            pub fn at(position: usize) -> Self {
                Self(u16::try_from(position).unwrap_or(u16::MAX))
            }

            /// Returns the position in the list.
            pub fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    )*};
}

index! {
    /// The index of a state.
    StateId,
    /// The index of a transition.
    TransitionId,
    /// The index of an event name.
    EventId,
    /// The index of a counter.
    CounterId,
    /// The index of an activity that a state starts.
    InvokeId,
    /// The index of a variable of the context.
    VarId,
}

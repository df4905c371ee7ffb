//! Enums and registry entries by their names.

/// An enum whose values have names in scenarios, results and messages. It provides the list of
/// values in order, the name of each, and the value of a name.
#[macro_export]
macro_rules! named {
    ($(#[$of_enum:meta])* $visible:vis enum $Enum:ident {
        $($(#[$of_value:meta])* $Value:ident = $name:literal,)+
    }) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $Enum {
            $($(#[$of_value])* $Value,)+
        }

        #[allow(dead_code, reason = "not every enum needs all of it")]
        impl $Enum {
            /// All of them, in order.
            $visible const ALL: &'static [$Enum] = &[$($Enum::$Value),+];

            /// Their names, in order.
            $visible const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name.
            $visible const fn name(self) -> &'static str {
                match self {
                    $($Enum::$Value => $name,)+
                }
            }

            /// The value called `name`.
            $visible fn from_name(name: &str) -> Option<$Enum> {
                $Enum::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl ::std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Implements `Debug` for registry entries as their names: the addresses of their functions differ
/// in every process.
#[macro_export]
macro_rules! debug_by_name {
    ($Entry:ty) => {
        impl ::std::fmt::Debug for $Entry {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name)
            }
        }
    };
}

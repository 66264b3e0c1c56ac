//! The page on which executions of lock algorithms are looked at.

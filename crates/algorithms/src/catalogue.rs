//! The catalogue: the one list of all algorithms.

/// Calls a macro with every algorithm: by folder, its kind (`lock` or `part`), its file and its name as a type.
///
/// A file `folder/file.rs` exports `ABOUT` and `new(space, size)`, and that of a lock its type as `Lock`. The list
/// generates the modules, the [registry](crate::registry), the locks of the crate `doorway` and the tests that every
/// algorithm must pass. Its order is the order of tables.
///
/// ```
/// macro_rules! count_broken {
///     ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {
///         [$($((stringify!($folder), stringify!($file))),*),*].iter().filter(|(folder, _)| *folder == "broken").count()
///     };
/// }
/// assert!(doorway_algorithms::for_each_algorithm!(count_broken) > 20);
/// ```
#[macro_export]
macro_rules! for_each_algorithm {
    ($callback:ident) => {
        $callback! {
            /// Mutual exclusion.
            mutex {
                lock peterson Peterson;
                lock filter Filter;
                lock bakery_labels BakeryLabels;
                lock bakery Bakery;
                lock peterson_tree PetersonTree;
                lock tournament Tournament;
                lock one_bit OneBit;
                lock burns_lamport BurnsLamport;
                lock dijkstra Dijkstra;
                lock knuth Knuth;
                lock eisenberg_mcguire EisenbergMcguire;
                lock szymanski Szymanski;
                lock lamport_fast LamportFast;
                lock black_white_bakery BlackWhiteBakery;
                lock yang_anderson YangAnderson;
                lock kim_anderson KimAnderson;
                lock danek_golab DanekGolab;
                lock danek_golab_adaptive DanekGolabAdaptive;
                lock danek_golab_simple DanekGolabSimple;
                lock danek_golab_yang_anderson DanekGolabYangAnderson;
                lock jayanti_f_array JayantiFArray;
                lock jayanti_f_array_adaptive JayantiFArrayAdaptive;
                lock mcs Mcs;
                lock clh Clh;
                lock ticket Ticket;
                lock ticket_sleeping TicketSleeping;
                lock ticket_async TicketAsync;
                lock anderson_array AndersonArray;
            }
            /// k-exclusion: at most k holders.
            kexclusion {
                lock k_bakery KBakery;
                lock k_bakery_fife KBakeryFife;
                lock k_bakery_safe KBakerySafe;
                lock log_k LogK;
                lock log_k_wide LogKWide;
                lock filter_k FilterK;
                lock fischer_queue FischerQueue;
                lock fischer_queue_copied FischerQueueCopied;
                lock fischer_queue_names FischerQueueNames;
                lock colored_ticket ColoredTicket;
                lock gottlieb Gottlieb;
                lock ticket_k TicketK;
                lock anderson_moir AndersonMoir;
                lock anderson_moir_tree AndersonMoirTree;
                lock anderson_moir_fast AndersonMoirFast;
                lock anderson_moir_adaptive AndersonMoirAdaptive;
                lock anderson_moir_dsm AndersonMoirDsm;
                lock anderson_moir_dsm_tree AndersonMoirDsmTree;
                lock anderson_moir_dsm_adaptive AndersonMoirDsmAdaptive;
                lock danek_lee DanekLee;
                lock decker_jayanti DeckerJayanti;
                lock decker_jayanti_names DeckerJayantiNames;
                lock afek Afek;
                lock burns_peterson BurnsPeterson;
                lock dolev_gafni_shavit DolevGafniShavit;
            }
            /// Building blocks that several algorithms use.
            parts {
                part bouncer Bouncer;
                part renaming Renaming;
                part renaming_tree RenamingTree;
                part timestamps Timestamps;
                part special_set SpecialSet;
                part special_set_adaptive SpecialSetAdaptive;
                part ticket_dispenser TicketDispenser;
            }
            /// Algorithms that the texts show to be inadequate, and deliberate mistakes.
            broken {
                lock lock_one LockOne;
                lock lock_two LockTwo;
                lock peterson_polite PetersonPolite;
                lock livelock Livelock;
                lock bakery_reaped BakeryReaped;
                lock flaky Flaky;
                lock fast_path FastPath;
                lock one_register OneRegister;
                lock two_registers TwoRegisters;
                lock danek_golab_no_dummy DanekGolabNoDummy;
                lock jayanti_f_array_single_refresh JayantiFArraySingleRefresh;
                lock k_bakery_no_announce KBakeryNoAnnounce;
                lock k_bakery_half_reaped KBakeryHalfReaped;
                lock k_bakery_fife_reset KBakeryFifeReset;
                lock log_k_printed LogKPrinted;
                lock log_k_first_repair LogKFirstRepair;
                lock colored_ticket_k_colours ColoredTicketKColours;
                lock anderson_moir_dsm_late AndersonMoirDsmLate;
                lock decker_jayanti_descending DeckerJayantiDescending;
                lock decker_jayanti_names_read DeckerJayantiNamesRead;
                lock ticket_async_late TicketAsyncLate;
                lock fischer_queue_arrival_tokens FischerQueueArrivalTokens;
                lock afek_no_e AfekNoE;
                lock dolev_gafni_shavit_single DolevGafniShavitSingle;
                part timestamps_concurrent TimestampsConcurrent;
                part special_set_verbatim SpecialSetVerbatim;
                part special_set_not_self SpecialSetNotSelf;
            }
        }
    };
}

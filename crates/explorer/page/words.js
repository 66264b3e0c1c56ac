// The words of the page: sections, properties, sizes. One idea has one name, and it is written here.

const SECTIONS = {
  remainder: { name: 'remainder', class: 's-remainder', fill: '#f2f2ef' },
  doorway: { name: 'doorway', class: 's-doorway', fill: '#fbe9b7' },
  wait: { name: 'waiting section', class: 's-wait', fill: '#d6e4f5' },
  'critical section': { name: 'critical section', class: 's-critical', fill: '#bfe3c4' },
  exit: { name: 'exit section', class: 's-exit', fill: '#e6dbf1' },
  abort: { name: 'aborting', class: 's-abort', fill: '#f6d9c6' },
  reap: { name: 'being reaped', class: 's-reap', fill: '#e3d3c8' },
  'wait, taken for dead': { name: 'waiting, taken for dead', class: 's-wait', fill: '#d6e4f5' },
  'critical section, taken for dead': { name: 'taken for dead, and does not know', class: 's-critical', fill: '#bfe3c4' },
}

/** A part has no sections of a lock; its calls and any later section get the same neutral look. */
const sectionOf = name => SECTIONS[name] ?? { name: name ?? '', class: 's-other', fill: '#e8e8e8' }

const ARRIVALS = { inside: 'enters', out: 'leaves', reaped: 'reaped', returned: 'returns' }

/** The definitions of docs/glossary.md, in short, for tooltips. */
const PROPERTIES = {
  exclusion: 'At most k processes are in the critical section at once.',
  'deadlock-freedom': 'If processes try to enter or leave, eventually one of them does.',
  'starvation-freedom': 'Every process that starts the doorway eventually enters, and every process that leaves completes its exit.',
  fcfs: 'First come, first served: if p completes the doorway before q starts it, q does not enter before p.',
  'k-fcfs': 'If k processes have completed the doorway and not entered when q starts it, one of them enters before q.',
  fife: 'First in, first enabled: an earlier arrival that was overtaken can enter within a bounded number of its own steps.',
  bypass: 'How many times later arrivals enter between the end of p\'s doorway and p\'s entry.',
  entries: 'How many times any other process enters between the end of p\'s doorway and p\'s entry.',
  'bounded-exit': 'The exit section takes a bounded number of the process\' own steps.',
  'wait-free-doorway': 'The doorway takes a bounded number of the process\' own steps.',
  assignment: 'Every holder has a name below k, and no two holders have the same.',
  fenced: 'With expiries: a resource that refuses every token not larger than those it has seen refuses no holder.',
  rule: 'The latest outcomes of a part\'s calls obey the rule that the part states.',
  'wait-free': 'A call takes a bounded number of the process\' own steps.',
}

const KINDS = { mutex: 'mutual exclusion', 'k-exclusion': 'k-exclusion', part: 'part' }

const CONDITIONS = { crashes: 'crashes', deaths: 'deaths', aborts: 'aborts', expiries: 'expiries', tso: 'store buffers (tso)', safe: 'safe registers' }

const COSTS = { cc: 'CC', dsm: 'DSM' }

const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`

const grouped = number => number.toLocaleString('en-US')

const processName = p => `p${p}`

/** The text of a bound on remote memory references: a number, or no bound. */
const remoteText = value => value === null || value === undefined ? '–' : value === 'unbounded' ? '∞' : String(value)

const isKnown = value => value !== null && value !== undefined

/** A bound on how often others enter: a number, or none. */
const boundText = bound => bound === 'unbounded' ? 'unbounded' : `at most ${bound}`

/** What was found of a property: its verdict, or its bound where it has one. */
function foundText(property) {
  if (isKnown(property.bound)) {
    const inAll = isKnown(property.in_all) ? ` (${boundText(property.in_all)} counting earlier arrivals)` : ''
    return boundText(property.bound) + inAll
  }
  return property.verdict === 'unknown' ? 'undecided' : property.verdict
}

/** What the source claims. `lacks` and `fails` differ in whether the algorithm is meant to have the property. */
function claimedText(claimed, bound) {
  if (claimed === 'bypass') return boundText(bound)
  if (claimed === 'entries') return `${boundText(bound)} counting earlier arrivals`
  return claimed === 'lacks' ? 'does not hold' : claimed
}

// The catalogue: every algorithm in one table, with filters and an order.

const NO_FILTER = { text: '', status: '', kind: '', fairness: '', primitive: '', spin: '', tolerates: '', isCapacity: false }

const COLUMNS = [
  { key: 'name', title: 'algorithm', value: algorithm => algorithm.name },
  { key: 'status', title: 'verdict', value: algorithm => algorithm.status },
  { key: 'kind', title: 'kind', value: algorithm => algorithm.kind },
  { key: 'fairness', title: 'fairness', value: algorithm => fairnessOf(algorithm).join() },
  { key: 'primitives', title: 'instructions', value: algorithm => `${algorithm.primitives.length} ${algorithm.primitives.join()}` },
  { key: 'spin', title: 'local-spin', value: algorithm => spinText(algorithm) },
  { key: 'tolerates', title: 'tolerates', value: algorithm => `${9 - algorithm.tolerates.length} ${algorithm.tolerates.join()}` },
  { key: 'source', title: 'source', value: algorithm => algorithm.source },
]

const claims = (algorithm, property) => algorithm.claims.some(claim => claim.property === property && claim.claimed === 'holds' && !claim.conditions?.length)

/** The claims about fairness, the strongest first; starvation-freedom goes without saying beside a stronger one. */
function fairnessOf(algorithm) {
  const orders = ['fcfs', 'k-fcfs', 'fife'].filter(property => claims(algorithm, property))
  return orders.length || !claims(algorithm, 'starvation-freedom') ? orders : ['starvation-freedom']
}

const spinText = algorithm => algorithm.local_spin ? ['cc', 'dsm'].filter(cost => algorithm.local_spin[cost]).map(cost => COSTS[cost]).join(', ') || 'neither' : '–'

function matches(algorithm, filter) {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  const text = [algorithm.name, algorithm.title, algorithm.source, algorithm.why, algorithm.remark].join(' ').toLowerCase()
  return words.every(word => text.includes(word))
    && (!filter.status || algorithm.status === filter.status)
    && (!filter.kind || algorithm.kind === filter.kind)
    && (!filter.isCapacity || algorithm.kind === 'k-exclusion')
    && (!filter.fairness || claims(algorithm, filter.fairness))
    && (!filter.primitive || onlyUses(algorithm, filter.primitive))
    && (!filter.spin || Boolean(algorithm.local_spin?.[filter.spin]))
    && (!filter.tolerates || algorithm.tolerates.includes(filter.tolerates))
}

const isReadWrite = algorithm => algorithm.primitives.every(primitive => primitive === 'read' || primitive === 'write')
const onlyUses = (algorithm, primitive) => primitive === 'read and write' ? isReadWrite(algorithm) : algorithm.primitives.includes(primitive)

// The filter outlives the view: a reader who comes back from an algorithm finds the table unchanged.
let lastFilter = NO_FILTER
let lastOrder = { key: '', isReversed: false }

function Catalogue() {
  const { report } = useEngine()
  const [filter, setFilter] = useState(lastFilter)
  const [order, setOrder] = useState(lastOrder)
  lastFilter = filter
  lastOrder = order
  const rows = useMemo(() => sorted(report.algorithms.filter(algorithm => matches(algorithm, filter)), order), [filter, order])
  const broken = report.algorithms.filter(algorithm => algorithm.status === 'broken').length
  return html`<main class="page">
    <h1>Algorithms</h1>
    <p class="lead">${report.algorithms.length} mutual-exclusion and k-exclusion algorithms and their parts, written after their papers and checked for every interleaving.${' '}
      ${broken} of them are broken, and the page shows the execution that refutes each.</p>
    <${Start} report=${report} />
    <${Filters} filter=${filter} setFilter=${setFilter} algorithms=${report.algorithms} />
    <p class="count" role="status">${rows.length === report.algorithms.length ? `all ${rows.length} algorithms` : `${rows.length} of ${report.algorithms.length} algorithms`}</p>
    <table class="catalogue">
      <thead><tr>${COLUMNS.map(column => html`<${Head} column=${column} order=${order} setOrder=${setOrder} />`)}</tr></thead>
      <tbody>${rows.map(algorithm => html`<${CatalogueRow} key=${algorithm.name} algorithm=${algorithm} />`)}</tbody>
    </table>
    ${rows.length === 0 && html`<p>No algorithm matches. <button type="button" onClick=${() => setFilter(NO_FILTER)}>Show all</button></p>`}
  </main>`
}

/** For a first visit: one example that says what the page is for. */
function Start({ report }) {
  const example = report.algorithms.find(algorithm => algorithm.name === 'fast-path')
  if (!example) return null
  return html`<p class="start">
    <strong>New here?</strong> <a href=${algorithmHref('fast-path')}>See why <code>fast-path</code> is wrong</a>: two processes reach the critical section.
    Or be the scheduler yourself and <a href="#/puzzles">break a lock</a>.</p>`
}

function sorted(algorithms, order) {
  const column = COLUMNS.find(column => column.key === order.key)
  if (!column) return algorithms
  const sign = order.isReversed ? -1 : 1
  return [...algorithms].sort((a, b) => sign * column.value(a).localeCompare(column.value(b), 'en', { numeric: true }))
}

function Head({ column, order, setOrder }) {
  const isOrder = order.key === column.key
  const direction = isOrder ? (order.isReversed ? 'descending' : 'ascending') : 'none'
  // The third press restores the order of the catalogue.
  const press = () => setOrder(!isOrder ? { key: column.key, isReversed: false } : order.isReversed ? { key: '', isReversed: false } : { key: column.key, isReversed: true })
  return html`<th scope="col" aria-sort=${direction}><button type="button" class="head" onClick=${press}>${column.title}
    <span aria-hidden="true">${isOrder ? (order.isReversed ? ' ▾' : ' ▴') : ''}</span></button></th>`
}

function CatalogueRow({ algorithm }) {
  const href = algorithmHref(algorithm.name)
  // The whole row is a target for the mouse; for the keyboard and screen readers the name is the link.
  const open = event => {
    if (!event.target.closest('a, button') && !String(getSelection())) location.hash = href
  }
  return html`<tr class="row ${algorithm.status}" data-name=${algorithm.name} onClick=${open}>
    <td><a class="name" href=${href}>${algorithm.name}</a><div class="what">${algorithm.title}</div></td>
    <td class="verdict"><${Verdict} algorithm=${algorithm} />${algorithm.status === 'broken' && html`<div class="why">
      <${Prose} text=${algorithm.why} /></div>`}</td>
    <td>${algorithm.kind}</td>
    <td>${fairnessOf(algorithm).map(property => html`<${Chip} tone="plain" title=${PROPERTIES[property]}>${property}</${Chip}> `)}</td>
    <td>${isReadWrite(algorithm) ? 'read, write' : algorithm.primitives.filter(primitive => primitive !== 'read' && primitive !== 'write').join(', ')}
      </td>
    <td>${spinText(algorithm)}</td>
    <td>${algorithm.tolerates.join(', ') || '–'}</td>
    <td class="source">${algorithm.source}</td></tr>`
}

function Verdict({ algorithm }) {
  if (algorithm.status === 'broken') return html`<${Chip} tone="bad">broken</${Chip}>`
  const disagrees = algorithm.found?.properties.some(property => property.agrees === false)
  if (disagrees) return html`<${Chip} tone="warn">not as claimed</${Chip}>`
  return html`<${Chip} tone="good">correct</${Chip}>`
}

function Filters({ filter, setFilter, algorithms }) {
  const set = (key, value) => setFilter({ ...filter, [key]: value })
  const primitives = useMemo(() => [...new Set(algorithms.flatMap(algorithm => algorithm.primitives))].filter(name => name !== 'read' && name !== 'write').sort(), [algorithms])
  const select = (key, label, options) => html`<label>${label} <select name=${key} value=${filter[key]} onChange=${event => set(key, event.target.value)}>
    <option value="">any</option>${options.map(([value, text]) => html`<option value=${value} selected=${filter[key] === value}>${text}</option>`)}
      </select></label>`
  return html`<form class="filters" role="search" aria-label="Filter the algorithms" onSubmit=${event => event.preventDefault()}>
    <label>Search <input type="search" name="text" value=${filter.text} placeholder="name, title, source" onInput=${event => set('text', event.target.value)} /></label>
    ${select('status', 'Verdict', [['correct', 'correct'], ['broken', 'broken']])}
    ${select('kind', 'Kind', Object.entries(KINDS))}
    ${select('fairness', 'Fairness', [['fcfs', 'fcfs'], ['k-fcfs', 'k-fcfs'], ['fife', 'fife'], ['starvation-freedom', 'starvation-freedom']])}
    ${select('primitive', 'Instructions', [['read and write', 'only read and write'], ...primitives.map(name => [name, name])])}
    ${select('spin', 'Local-spin in', [['cc', 'CC'], ['dsm', 'DSM']])}
    ${select('tolerates', 'Tolerates', Object.entries(CONDITIONS))}
    <label class="check">
      <input type="checkbox" name="isCapacity" checked=${filter.isCapacity} onChange=${event => set('isCapacity', event.target.checked)} /> k > 1</label>
    <button type="button" onClick=${() => setFilter(NO_FILTER)}>Clear</button></form>`
}

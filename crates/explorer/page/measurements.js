// Measurements: curves of several algorithms in one chart, the benchmark, and the tables of the papers.

// Measured curves outlive the view, as a measurement can take long.
const measured = new Map()
let lastSelected = null

function Measurements() {
  const engine = useEngine()
  const { report } = engine
  return html`<main class="page"><h1>Measurements</h1>
    <section><h2>Remote memory references</h2><${CompareCurves} engine=${engine} algorithms=${report.algorithms} /></section>
    ${report.bench?.length > 0 && html`<section><h2>Entries per second</h2><${Bench} rows=${report.bench} /></section>`}
    ${report.tables.map(table => html`<section><${PaperTable} table=${table} /></section>`)}</main>`
}

const hasBound = algorithm => algorithm.curves?.some(curve => curve.cost === 'cc' && !curve.unbounded)

function CompareCurves({ engine, algorithms }) {
  const [, redraw] = useState(0)
  const [cost, setCost] = useState('cc')
  const [variable, setVariable] = useState('N')
  const [failure, setFailure] = useState(null)
  const [busy, setBusy] = useState([])
  for (const algorithm of algorithms) if (algorithm.curves?.length) measured.set(algorithm.name, algorithm.curves)
  const choosable = algorithms.filter(algorithm => algorithm.kind !== 'part' && (engine.canSearch || measured.has(algorithm.name)))
  const [selected, setSelected] = useState(lastSelected ?? (engine.canSearch ? [] : choosable.filter(hasBound).map(algorithm => algorithm.name).slice(0, 5)))
  lastSelected = selected
  const add = async name => {
    setSelected(now => [...now.filter(one => one !== name), name])
    if (measured.has(name)) return
    setBusy(now => [...now, name])
    try {
      measured.set(name, await engine.curves(algorithms.find(algorithm => algorithm.name === name)))
      setFailure(null)
    } catch (error) {
      setFailure(error)
    }
    setBusy(now => now.filter(one => one !== name))
    redraw(count => count + 1)
  }
  const remove = name => setSelected(selected.filter(one => one !== name))
  const addable = choosable.map(algorithm => algorithm.name).filter(name => !selected.includes(name))
  const known = selected.flatMap(name => (measured.get(name) ?? []).map(curve => ({ ...curve, name })))
  const variables = [...new Set(known.map(curve => curve.variable))]
  const shownVariable = variables.includes(variable) ? variable : variables[0] ?? 'N'
  const curves = known.filter(curve => curve.cost === cost && curve.variable === shownVariable)
  const noCurvesText = engine.canSearch ? 'Add an algorithm: its curves are measured then.' : choosable.length ? 'Add an algorithm.' : 'This report has no curves.'
  const without = selected.filter(name => measured.has(name) && !curves.some(curve => curve.name === name))
  return html`<div class="compare">
    <form class="filters" onSubmit=${event => event.preventDefault()}>
      <label>Add <select name="add" value="" onChange=${event => { add(event.target.value); event.target.value = '' }}>
        <option value="">an algorithm…</option>${addable.map(name => html`<option value=${name}>${name}</option>`)}</select></label>
      <label>Model <${Select} name="cost" value=${cost} options=${Object.entries(COSTS)} onSelect=${setCost} /></label>
      ${variables.length > 1 && html`<label>As this grows ${' '}
        <${Select} name="variable" value=${shownVariable} options=${variables.map(name => [name, name])} onSelect=${setVariable} /></label>`}
      ${selected.map(name => html`<button type="button" class="chip-button" aria-label=${`Remove ${name}`} onClick=${() => remove(name)}>${name} ✕</button>`)}
    </form>
    ${busy.length > 0 && html`<${Spinner}>Measuring ${busy.join(', ')}…</${Spinner}>`}
    ${failure && html`<${ErrorNote} error=${failure} />`}
    ${curves.length > 0 ? html`<${CurveChart} key=${`${cost} ${shownVariable}`} variable=${shownVariable} curves=${curves} />` : html`<p class="muted">${noCurvesText}</p>`}
    ${without.length > 0 && html`<p class="muted">No ${COSTS[cost]} curve in ${shownVariable}: ${without.join(', ')}.</p>`}</div>`
}

function Select({ name, value, options, onSelect }) {
  return html`<select name=${name} onChange=${event => onSelect(event.target.value)}>
    ${options.map(([option, text]) => html`<option value=${option} selected=${option === value}>${text}</option>`)}</select>`
}

function Bench({ rows }) {
  const scenarios = [...new Set(rows.map(scenarioText))]
  return html`<p class="muted">Filled bars are locks of this project; the others are outlined.</p>
    ${scenarios.map(scenario => {
      const bars = rows.filter(row => scenarioText(row) === scenario && row.ops_per_s).sort((a, b) => b.ops_per_s - a.ops_per_s)
        .map(row => ({ label: `${row.lock} (${row.order})`, value: row.ops_per_s, shown: rateText(row.ops_per_s), isFilled: row.ours }))
      return bars.length > 0 && html`<h3>${scenario}</h3><${Bars} bars=${bars} label=${`Entries per second, ${scenario}`} />`
    })}`
}

const scenarioText = row => `${row.scenario}, k = ${row.k}, ${plural(row.threads, 'thread')}`

const rateText = rate => rate >= 1e6 ? `${(rate / 1e6).toFixed(1)} M/s` : rate >= 1e3 ? `${(rate / 1e3).toFixed(0)} k/s` : `${rate.toFixed(0)} /s`

function PaperTable({ table }) {
  return html`<h2>${table.title}</h2><div class="wide"><table class="numbers"><thead><tr>${table.columns.map(column => html`<th scope="col">${column}
    </th>`)}</tr></thead>
    <tbody>${table.rows.map(row => html`<tr>${row.map((value, index) => index === 0 ? html`<th scope="row"><${Prose} text=${value} />
      </th>` : html`<td><${Prose} text=${value} /></td>`)}</tr>`)}</tbody></table></div>
    ${table.notes.map(note => html`<p class="prose"><${Prose} text=${note} /></p>`)}`
}

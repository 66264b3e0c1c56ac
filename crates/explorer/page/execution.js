// An execution, step by step: the picture, the source's lines, the processes and the registers.

const PLAY_MS = 800

/** The route `#/execution?…`: finds the algorithm and the model, and says what in the link does not fit. */
function ExecutionView({ query }) {
  const engine = useEngine()
  const name = query.get('algorithm') ?? ''
  const algorithm = engine.report.algorithms.find(one => one.name === name)
  if (!algorithm) return html`<${UnknownAlgorithm} name=${name} />`
  return html`<${Execution} key=${name} algorithm=${algorithm} query=${query} />`
}

const indexFrom = (query, name) => /^\d+$/.test(query.get(name) ?? '') ? Number(query.get(name)) : null

/**
 * The execution that the query names.
 * @param {{puzzle?: object | null}} props with a puzzle, the page counts steps and does not show what was chosen before
 */
function Execution({ algorithm, query, puzzle = null, banner = null }) {
  const engine = useEngine()
  const { report } = engine
  const asked = useMemo(() => ({
    model: modelFromQuery(query, algorithm),
    choices: splitChoices(query.get('choices') ?? ''),
    cycle: indexFrom(query, 'cycle'),
    at: indexFrom(query, 'at'),
    property: query.get('property'),
  }), [query])
  const [shown, setShown] = useState({ state: 'busy' })
  const [isPlaying, setPlaying] = useState(false)
  const latest = useRef(0)

  // Answers can overtake each other: only that to the latest question counts.
  const ask = useCallback(async (model, choices, { position = null, cycle = null, isChoice = false }) => {
    const ticket = ++latest.current
    try {
      const execution = await engine.execution(model, choices)
      if (ticket !== latest.current) return
      const end = execution.steps.length
      setShown({ state: 'done', execution, cycle: isLasso(execution, cycle) ? cycle : null, at: Math.min(position ?? end, end) })
    } catch (error) {
      // A choice that fails leaves the execution as it was.
      if (ticket === latest.current) setShown(now => ({ ...(isChoice ? now : {}), state: 'failed', error }))
    }
  }, [engine])

  useEffect(() => {
    setPlaying(false)
    ask(asked.model, asked.choices, { position: asked.at, cycle: asked.cycle })
  }, [asked])
  useEffect(() => () => { latest.current = -1 }, [])

  const { execution, cycle, at } = shown
  const go = useCallback(position => {
    stepTimer.start()
    setShown(now => now.execution ? { ...now, at: Math.max(0, Math.min(now.execution.steps.length, position)) } : now)
  }, [])
  // At the end of a lasso the next step is the first one of its cycle.
  const forward = () => go(at === execution.steps.length && cycle !== null ? cycle + 1 : at + 1)
  const choose = choice => {
    stepTimer.start()
    setPlaying(false)
    if (execution.steps[at]?.choice === choice) return go(at + 1)
    ask(execution.model, [...execution.steps.slice(0, at).map(step => step.choice), choice], { isChoice: true })
  }

  usePlay(isPlaying, setPlaying, shown, forward)
  const link = execution && linkTo(report, execution, cycle, at, asked.property, puzzle ? 'puzzles' : 'execution')
  // The address always names what is shown. It is replaced, so that "back" leaves the execution.
  useEffect(() => {
    if (link && link !== location.hash) history.replaceState(null, '', link)
  }, [link])

  const note = puzzle ? null : (algorithm.found?.properties ?? []).find(property => property.property === asked.property)?.note
  return html`<main class="execution">
    <${ExecutionTitle} algorithm=${algorithm} model=${execution?.model ?? asked.model} puzzle=${puzzle} engine=${engine} />
    ${banner && execution && banner({ execution, at, choose, go })}
    <${LinkNotes} query=${query} report=${report} asked=${asked} shown=${shown} />
    ${shown.state === 'busy' && html`<${Spinner}>Taking the steps…</${Spinner}>`}
    ${shown.state === 'failed' && html`<${ErrorNote} error=${shown.error} />`}
    ${execution && html`<${Walk} algorithm=${algorithm} execution=${execution} cycle=${cycle} at=${at} go=${go} forward=${forward}
      choose=${execution.fixed ? null : choose} isPlaying=${isPlaying} setPlaying=${setPlaying} property=${asked.property} note=${note} link=${link} />`}
  </main>`
}

function ExecutionTitle({ algorithm, model, puzzle, engine }) {
  const back = puzzle ? html`<a href="#/puzzles">← Puzzles</a>` : html`<a href=${algorithmHref(algorithm.name)}>← ${algorithm.name}</a>`
  return html`<div class="execution-title"><span class="back">${back}</span>
    <h1>${puzzle ? 'Break ' : 'Execution of '}<code>${algorithm.name}</code> <span class="title">${modelText(model)}</span></h1>
    ${!puzzle && engine.canSearch && html`<${ModelOptions} algorithm=${algorithm} model=${model} />`}</div>`
}

const linkTo = (report, execution, cycle, at, property, view) =>
  executionHref(execution.model, joinChoices(execution.steps.map(step => step.choice)), { cycle, at, property, version: report.version }, view)

/** Whether the steps from `cycle` on lead back to where they start, as far as sections and lines show it. */
function isLasso(execution, cycle) {
  if (cycle === null || cycle >= execution.steps.length) return false
  const place = state => JSON.stringify(state.processes.map(process => [process.section, process.line, process.crashed]))
  return place(execution.states[cycle]) === place(execution.states.at(-1))
}

/** What in a link does not fit this page: another version, a choice that is not possible, a cycle that is none. */
function LinkNotes({ query, report, asked, shown }) {
  const version = query.get('v')
  const refused = shown.execution?.refused
  const isNoLasso = shown.state === 'done' && asked.cycle !== null && shown.cycle === null && shown.execution.steps.length === asked.choices.length
  return html`<div class="link-notes">
    ${version && version !== report.version && html`<${Note} tone="warn">The link was made with version ${version};
      ${' '}this is version ${report.version}. The algorithm may take other steps here.</${Note}>`}
    ${refused && html`<${Note} tone="bad">The link could be followed for ${plural(refused.at, 'step')} of ${asked.choices.length}.
      ${' '}Choice ${refused.at + 1}: <${Prose} text=${refused.why} />. The steps before it are shown.</${Note}>`}
    ${isNoLasso && html`<${Note} tone="warn">The link says that the steps from ${asked.cycle + 1} on are repeated for ever,
      ${' '}but they do not lead back to where they start. They are shown once.</${Note}>`}</div>`
}

/** Play: one step after the other; at the end of an execution that is no lasso it stops. */
function usePlay(isPlaying, setPlaying, shown, forward) {
  useEffect(() => {
    if (!isPlaying || !shown.execution) return
    const isEnd = shown.at >= shown.execution.steps.length && shown.cycle === null
    if (isEnd) return setPlaying(false)
    const timer = setTimeout(forward, PLAY_MS)
    return () => clearTimeout(timer)
  }, [isPlaying, shown])
}

function Walk({ algorithm, execution, cycle, at, go, forward, choose, isPlaying, setPlaying, property, note, link }) {
  const [isHidingUnchanged, setHidingUnchanged] = useState(false)
  const [only, setOnly] = useState(null)
  const [isHelp, setHelp] = useState(false)
  const [took, setTook] = useState(null)
  const svg = useRef(null)
  const end = execution.steps.length
  const play = () => {
    // At the end, "play" shows the execution again from its start.
    if (!isPlaying && at === end && cycle === null) go(0)
    setPlaying(!isPlaying)
  }
  useKeys({ back: () => go(at - 1), forward, start: () => go(0), end: () => go(end), play, help: () => setHelp(!isHelp), choose, choices: execution.states[at].choices })
  useLayoutEffect(() => stepTimer.stopAfterPaint(setTook), [execution, at])
  const text = algorithm.text
  const names = useMemo(() => [...new Set(execution.registers.map(register => register.name.split('[')[0]))], [execution.registers])
  const positions = execution.states[at].processes.map((process, p) => ({ p, line: process.line, next: process.next, row: process.row, names }))
  return html`<div class="walk">
    <${Properties} algorithm=${algorithm} execution=${execution} at=${at} go=${go} />
    ${cycle !== null && html`<${Note} tone="bad">
      <strong>${property ?? 'This execution'} ${property ? 'fails' : 'never ends'}:</strong> the steps from ${cycle + 1} to ${end} are repeated for ever${note ? `, and ${note}` : ''}.</${Note}>`}
    <div class="toolbar" role="toolbar" aria-label="Steps">
      <button type="button" onClick=${() => go(0)} disabled=${at === 0} title="Home">|◀ Start</button>
      <button type="button" onClick=${() => go(at - 1)} disabled=${at === 0} title="Arrow left">◀ Back</button>
      <button type="button" onClick=${play} disabled=${end === 0} aria-pressed=${isPlaying} title="Space">${isPlaying ? '❚❚ Pause' : '▶ Play'}
        </button>
      <button type="button" onClick=${forward} disabled=${at === end && cycle === null} title="Arrow right">Forward ▶</button>
      <button type="button" onClick=${() => go(end)} disabled=${at === end} title="End">End ▶|</button>
      <span class="where" role="status"><strong>${at}
        </strong> of ${plural(end, 'step')}${at > 0 ? `: ${actionText(execution.steps[at - 1])}` : ': the initial state'}</span>
      <span class="gap"></span>
      <${Exports} execution=${execution} cycle=${cycle} link=${link} svg=${svg} />
      <button type="button" onClick=${() => setHelp(!isHelp)} aria-expanded=${isHelp} title="The keys">Keys ?</button></div>
    ${isHelp && html`<${Keys} />`}
    <div class="views">
      <section class="lanes-view" aria-label="Picture">
        <div class="options">
          <label>Show <select name="only" onChange=${event => setOnly(event.target.value === '' ? null : Number(event.target.value))}>
          <option value="">all processes</option>${execution.states[0].processes.map((_, p) => html`<option value=${p}>only p${p}</option>`)}</select>
          </label> <${Legend} execution=${execution} /></div>
        <${Picture} execution=${execution} at=${at} cycle=${cycle} only=${only} onGo=${go} svgRef=${svg} /></section>
      <div class="side">
        <section aria-label="Processes"><h2>Processes ${at < end && choose && html`<span class="hint">another choice drops the steps after step ${at}
          </span>`}</h2>
          <${Processes} execution=${execution} at=${at} onChoose=${choose} />
          ${!choose && html`<p class="muted">This report has only this execution. Choosing other steps needs <code>doorway explore ${algorithm.name}
            </code>.</p>`}</section>
        <section aria-label="Registers"><h2>Registers <label class="check hint">
          <input type="checkbox" name="unchanged" checked=${isHidingUnchanged} onChange=${event => setHidingUnchanged(event.target.checked)} /> hide unchanged</label></h2>
          <${Registers} execution=${execution} at=${at} isHidingUnchanged=${isHidingUnchanged} /></section>
        <section aria-label="The paper's lines"><h2>The paper's lines <span class="hint">with the next line of each process</span></h2>
          <${PaperLines} text=${text} positions=${positions} /></section></div></div>
    <p class="status muted">${took === null ? '' : `The last step was shown in ${took.toFixed(1)} ms.`}</p></div>`
}

/** The properties that steps can break. A chip turns red, with the note, from the step on that breaks it. */
function Properties({ algorithm, execution, at, go }) {
  const broken = execution.states[at].broken.filter(violation => violation.at <= at)
  const later = execution.states.at(-1).broken.filter(violation => !broken.some(one => one.property === violation.property))
  const claimed = algorithm.claims.map(claim => claim.property).filter(isSafety)
  const names = [...new Set([...claimed, ...[...broken, ...later].map(violation => violation.property)])]
  return html`<div class="properties" aria-live="polite">
    ${names.map(name => {
      const violation = broken.find(one => one.property === name)
      if (!violation) return html`<${Chip} tone="plain" title=${PROPERTIES[name]}>${name}: not broken so far</${Chip}> `
      return html`<span class="chip bad" data-broken=${name} title=${PROPERTIES[name]}><span class="sign" aria-hidden="true">✗</span><strong>${name}
        </strong> is broken: ${violation.note} <button type="button" class="small" onClick=${() => go(violation.at)}>step ${violation.at}</button>
        </span> `
    })}</div>`
}

// Of the other properties no finite execution is a counterexample.
const isSafety = property => ['exclusion', 'fcfs', 'k-fcfs', 'assignment', 'rule'].includes(property)

function Legend({ execution }) {
  const shapes = [
    [{ reads: true }, 'reads', true],
    [{ writes: true }, 'writes', true],
    [{ reads: true, writes: true }, 'reads and writes', execution.steps.some(step => step.reads && step.writes)],
    [{ register: 0, access: ':=' }, 'into the store buffer', execution.steps.some(isBuffered)],
    [{ kind: 'visible' }, 'becomes visible', execution.steps.some(step => step.kind === 'visible')],
  ]
  const entry = ([step, text]) => html`<span class="legend">
    <svg width="16" height="16" aria-hidden="true"><${Mark} step=${{ kind: 'step', access: '', ...step }} x=${8} y=${8} /></svg>${text}</span>`
  return html`<span class="legends">${shapes.filter(([, , isUsed]) => isUsed).map(entry)}
    <span class="legend">arrow: from a write to the first read that saw it</span></span>`
}

function Exports({ execution, cycle, link, svg }) {
  const { report } = useEngine()
  const [said, setSaid] = useState('')
  const name = `${execution.model.algorithm}-${execution.steps.length}`
  const files = {
    SVG: () => download(`${name}.svg`, 'image/svg+xml', asSvg(svg.current)),
    text: () => download(`${name}.txt`, 'text/plain', asText(execution, cycle)),
    JSON: () => download(`${name}.json`, 'application/json', JSON.stringify({ ...execution, fixed: undefined }, null, 1)),
    ITF: () => download(`${name}.itf.json`, 'application/json', JSON.stringify(asItf(execution, cycle, report.version), null, 1)),
  }
  const copy = async () => {
    const address = location.href.split('#')[0] + link
    setSaid(await copyText(address) ? 'Link copied' : address)
  }
  useEffect(() => setSaid(''), [link])
  return html`<span class="exports"><span role="status">${said}</span> <button type="button" class="permalink" onClick=${copy}>Copy link</button>
    <label>Export <select name="export" onChange=${event => { files[event.target.value]?.(); event.target.value = '' }}>
      <option value="">as…</option>${Object.keys(files).map(kind => html`<option value=${kind}>${kind}</option>`)}</select></label></span>`
}

/** The options of the model, where a server can compute any of them. */
function ModelOptions({ algorithm, model }) {
  const [draft, setDraft] = useState(model)
  useEffect(() => setDraft(model), [modelKey(model)])
  const offers = algorithm.offers ?? {}
  const number = (name, label, low) => html`<label>${label} <input type="number" name=${name} min=${low} max="64" value=${draft[name]} onInput=${event => setDraft({ ...draft, [name]: Number(event.target.value) })} /></label>`
  const check = (name, label) => html`<label class="check">
    <input type="checkbox" name=${name} checked=${draft[name]} onChange=${event => setDraft({ ...draft, [name]: event.target.checked })} /> ${label}
    </label>`
  const start = event => {
    event.preventDefault()
    location.hash = executionHref(draft.tso ? draft : { ...draft, fences: true }, '', { at: 0 })
  }
  return html`<details class="model"><summary>Change the model</summary><form onSubmit=${start}>
    ${number('n', 'processes n', 1)}${draft.k !== null && number('k', 'capacity k', 1)}${number('crashes', 'at most this many crashes', 0)}
    ${offers.deaths && check('deaths', 'deaths')}${offers.aborts && check('aborts', 'aborts')}${offers.deaths && check('expiries', 'expiries')}${offers.safe && check('safe', 'safe registers')}
    ${check('tso', 'store buffers (tso)')}${draft.tso && check('fences', 'fences')}
    <button type="submit">Start with this model</button></form>
    <p class="muted">The same model on the command line: <${Command} text=${checkCommand(draft)} /></p></details>`
}

const KEYS = [
  ['← or ↑', 'one step back'],
  ['→ or ↓', 'one step forward'],
  ['Home, End', 'the initial state, the last step'],
  ['Space', 'play or pause'],
  ['0 … 9', 'process 0 … 9 takes its next step'],
  ['c, then 0 … 9', 'that process crashes, where the model has crashes'],
  ['?', 'shows or hides these keys'],
]

function Keys() {
  return html`<div class="keys"><table><tbody>${KEYS.map(([key, deed]) => html`<tr><th scope="row"><kbd>${key}</kbd></th><td>${deed}</td></tr>`)}
    </tbody></table></div>`
}

function useKeys(actions) {
  // The handler is installed once and always sees the actions of the latest state.
  const now = useRef(actions)
  now.current = actions
  const isCrash = useRef(false)
  // Before the page is painted: no key is lost that is pressed as soon as the execution is seen.
  useLayoutEffect(() => {
    const press = event => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest('input, select, textarea')) return
      // Space presses the button that has the focus, as everywhere.
      if (event.key === ' ' && event.target.closest('button, a, summary')) return
      if (handleKey(event.key, now.current, isCrash)) event.preventDefault()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

/** Does what the key stands for; returns whether it stands for anything. */
function handleKey(key, actions, isCrash) {
  const isAfterC = isCrash.current
  isCrash.current = key === 'c'
  if (/^\d$/.test(key)) return chooseByKey(actions, Number(key), isAfterC ? 'crashes' : 'step')
  const deed = { ArrowLeft: 'back', ArrowUp: 'back', ArrowRight: 'forward', ArrowDown: 'forward', Home: 'start', End: 'end', ' ': 'play', '?': 'help' }[key]
  if (!deed) return false
  actions[deed]()
  return true
}

function chooseByKey(actions, p, kind) {
  const choice = actions.choices.find(choice => choice.process === p && choice.kind === kind)
  if (!choice || !actions.choose) return false
  actions.choose(choice.choice)
  return true
}

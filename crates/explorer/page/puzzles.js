// Break it: the broken locks as puzzles. The reader is the scheduler.

const puzzleKey = puzzle => `${modelKey(puzzle.model)}&property=${puzzle.property}`
const bestOf = puzzle => Number(stored.get(`best.${puzzleKey(puzzle)}`)) || null
const puzzleHref = puzzle => executionHref(puzzle.model, '', { property: puzzle.property, at: 0 }, 'puzzles')

function Puzzles({ query }) {
  const engine = useEngine()
  const { puzzles, algorithms } = engine.report
  if (!query.has('algorithm')) return html`<${PuzzleList} puzzles=${puzzles} engine=${engine} />`
  const algorithm = algorithms.find(one => one.name === query.get('algorithm'))
  if (!algorithm) return html`<${UnknownAlgorithm} name=${query.get('algorithm')} />`
  const model = modelFromQuery(query, algorithm)
  const puzzle = puzzles.find(one => one.property === query.get('property') && modelKey(one.model) === modelKey(model))
  if (!puzzle) return html`<main class="page"><${Note} tone="bad">There is no such puzzle. <a href="#/puzzles">All puzzles</a></${Note}></main>`
  return html`<${Execution} key=${puzzleKey(puzzle)} algorithm=${algorithm} query=${query} puzzle=${puzzle}
    banner=${walk => html`<${PuzzleBanner} puzzle=${puzzle} algorithm=${algorithm} engine=${engine} ...${walk} />`} />`
}

function PuzzleList({ puzzles, engine }) {
  const isPlayable = puzzle => engine.canChoose(puzzle.model)
  return html`<main class="page"><h1>Break it</h1>
    <p class="lead">These locks are broken. Choose which process takes the next step, and show it: every puzzle has an execution that reaches its goal.</p>
    <table class="puzzles"><thead><tr><th scope="col">lock</th><th scope="col">show that</th><th scope="col">model</th>
      <th scope="col">shortest known</th><th scope="col">your best</th><th scope="col"></th></tr></thead>
    <tbody>${puzzles.map(puzzle => html`<tr><th scope="row"><code>${puzzle.model.algorithm}</code></th>
      <td>${puzzle.goal}</td><td>${modelText(puzzle.model)}</td><td>${plural(puzzle.shortest, 'step')}</td>
        <td>${bestOf(puzzle) ? plural(bestOf(puzzle), 'step') : '–'}</td>
      <td>${isPlayable(puzzle) ? html`<a class="button" href=${puzzleHref(puzzle)}>Play</a>` : html`<span class="muted">needs <code>doorway explore ${puzzle.model.algorithm}</code></span>`}</td></tr>`)}</tbody></table>
    ${puzzles.length === 0 && html`<p>No broken lock is in this report.</p>`}</main>`
}

function PuzzleBanner({ puzzle, algorithm, engine, execution, at }) {
  const [hasGivenUp, setGivenUp] = useState(false)
  const violation = execution.states[at].broken.find(one => one.property === puzzle.property)
  const best = bestOf(puzzle)
  useEffect(() => {
    // An execution that was shown after giving up is nobody's best.
    if (violation && !hasGivenUp && (!best || violation.at < best)) stored.set(`best.${puzzleKey(puzzle)}`, String(violation.at))
  }, [violation?.at, hasGivenUp])
  return html`<div class="puzzle ${violation ? 'solved' : ''}">
    <p class="goal">Goal: <strong>${puzzle.goal}</strong>, in at most ${plural(puzzle.shortest, 'step')}.</p>
    <p role="status"><span class="counter">${plural(at, 'step')} so far</span>${best ? `; your best is ${best}` : ''}.
      ${violation && html` <strong class="done">${doneText(puzzle, violation, hasGivenUp)}</strong>`}</p>
    <p><a class="button" href=${puzzleHref(puzzle)} onClick=${() => setGivenUp(false)}>Start again</a> <${GiveUp} puzzle=${puzzle} algorithm=${algorithm} engine=${engine} onGiveUp=${() => setGivenUp(true)} /></p></div>`
}

function doneText(puzzle, violation, hasGivenUp) {
  if (hasGivenUp) return `This is the shortest known execution: ${plural(violation.at, 'step')}.`
  if (violation.at <= puzzle.shortest) return `Broken in ${plural(violation.at, 'step')}: no execution is shorter.`
  return `Broken in ${plural(violation.at, 'step')}. It can be done in ${puzzle.shortest}.`
}

function GiveUp({ puzzle, algorithm, engine, onGiveUp }) {
  const [said, setSaid] = useState(null)
  const show = async () => {
    setSaid(html`<${Spinner}>Searching…</${Spinner}>`)
    try {
      const choices = puzzle.choices ?? await engine.shortest(puzzle, algorithm)
      setSaid(choices ? null : 'The search did not reach it.')
      if (!choices) return
      onGiveUp()
      location.hash = executionHref(puzzle.model, choices, { property: puzzle.property, at: 0 }, 'puzzles')
    } catch (error) {
      setSaid(errorText(error))
    }
  }
  return html`<button type="button" class="give-up" onClick=${show}>Give up: show the shortest execution</button> ${said}`
}

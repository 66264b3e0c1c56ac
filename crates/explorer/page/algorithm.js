// One algorithm: the lines of its paper, what is claimed beside what was found, and its counterexamples.

function AlgorithmView({ name }) {
  const engine = useEngine()
  const algorithm = engine.report.algorithms.find(one => one.name === name)
  if (!algorithm) return html`<${UnknownAlgorithm} name=${name} />`
  return html`<${KnownAlgorithm} key=${name} algorithm=${algorithm} engine=${engine} />`
}

function UnknownAlgorithm({ name }) {
  const { report } = useEngine()
  const near = report.algorithms.map(one => one.name).filter(one => one.startsWith(name.slice(0, 3))).slice(0, 6)
  return html`<main class="page"><h1>Unknown algorithm</h1>
    <${Note} tone="bad">No algorithm is called <code>${name}
      </code>.${near.length > 0 && html` Similar names: ${near.map(one => html`<a href=${algorithmHref(one)}>${one}</a> `)}`}</${Note}>
    <p><a href="#/">All algorithms</a></p></main>`
}

function KnownAlgorithm({ algorithm, engine }) {
  const found = useAnswer(signal => algorithm.found ? Promise.resolve(algorithm.found) : engine.found(algorithm, signal), [algorithm])
  return html`<main class="page algorithm">
    <p class="back"><a href="#/">← Algorithms</a></p>
    <h1><code>${algorithm.name}</code> <span class="title">${algorithm.title}</span></h1>
    <p class="facts"><${Verdict} algorithm=${algorithm} /> ${KINDS[algorithm.kind] ?? algorithm.kind}; <${Prose} text=${algorithm.source} />; processes: ${algorithm.processes}; ${algorithm.primitives.join(', ')}.
      ${algorithm.remark && html` <${Prose} text=${capitalised(algorithm.remark)} />.`}</p>
    ${algorithm.status === 'broken' && html`<${WhyBroken} algorithm=${algorithm} found=${found} engine=${engine} />`}
    <div class="columns">
      <section><h2>The paper's lines</h2><${PaperLines} text=${algorithm.text} />
        ${algorithm.notes.map(note => html`<p class="prose"><${Prose} text=${note} /></p>`)}
        <p><${ExploreLink} algorithm=${algorithm} engine=${engine} /></p></section>
      <section><h2>Claimed and found</h2><${Found} algorithm=${algorithm} answer=${found} /></section>
    </div>
    <section><h2>Remote memory references</h2><${Remote} algorithm=${algorithm} engine=${engine} found=${found.value} /></section>
  </main>`
}

function ExploreLink({ algorithm, engine }) {
  const model = algorithm.graph_model ?? defaultModel(algorithm)
  const limit = model.passages === null ? '' : `, with ${plural(model.passages, 'passage')} of each process`
  if (engine.canChoose(model)) return html`<a class="button" href=${executionHref(model, '', { at: 0 })}>Choose the steps yourself${limit}</a>`
  return html`Choosing the steps yourself needs <code>doorway explore ${algorithm.name}</code>: the graph is not in this report.`
}

/** For a broken algorithm: the reason, and the execution that shows it, before anything else. */
function WhyBroken({ algorithm, found, engine }) {
  const model = failingModel(algorithm)
  // Some algorithms fail only if processes crash or die: then that model is searched as well.
  const failing = useAnswer(model && engine.canSearch ? signal => engine.found(algorithm, signal, model) : null, [algorithm])
  const all = [...failing.value?.properties ?? [], ...found.value?.properties ?? [], ...algorithm.counterexamples ?? []]
  const shown = all.filter(property => property.execution && property.verdict !== 'holds')
  const claimed = shown.filter(property => algorithm.claims.some(claim => claim.property === property.property && claim.claimed === 'fails'))
  const main = claimed.length ? claimed : shown.slice(0, 1)
  const isBusy = found.state === 'busy' || failing.state === 'busy'
  return html`<div class="why-broken"><h2>Why it is broken</h2><p class="reason"><${Prose} text=${capitalised(algorithm.why)} />.</p>
    ${main.map(property => html`<p>
      <a class="button primary" href=${propertyHref(property)}>Show the execution: ${property.property} fails ${lengthText(property.execution)}</a>
      </p>`)}
    ${isBusy && html`<${Spinner}>Searching for the execution that shows it…</${Spinner}>`}
    ${!isBusy && main.length === 0 && html`<p class="muted">The search did not reach an execution that shows it; <code>doorway explore ${algorithm.name}</code> and other sizes may.</p>`}</div>`
}

/** The model under whose conditions the algorithm is claimed to fail; null if it fails without conditions. */
function failingModel(algorithm) {
  const claims = algorithm.claims.filter(claim => claim.claimed === 'fails')
  if (claims.length === 0 || claims.some(claim => !claim.conditions?.length)) return null
  const model = defaultModel(algorithm)
  for (const condition of claims[0].conditions) {
    if (condition === 'crashes') model.crashes = Math.max(1, (algorithm.k ?? 1) - 1)
    else if (condition in model) model[condition] = true
  }
  return model
}

const capitalised = text => text ? text[0].toUpperCase() + text.slice(1) : ''

const propertyHref = property => executionHref(property.execution.model, property.execution.choices, { cycle: property.execution.cycle_at, property: property.property })

function lengthText(execution) {
  const length = splitChoices(execution.choices).length
  if (execution.cycle_at === null || execution.cycle_at === undefined) return `in ${plural(length, 'step')}`
  return `in ${plural(execution.cycle_at, 'step')} and a cycle of ${length - execution.cycle_at}`
}

function Found({ algorithm, answer }) {
  if (answer.state === 'busy') return html`<${Spinner}>Checking every interleaving… You can leave this page at any time.</${Spinner}>`
  if (answer.state === 'failed') return html`<${ErrorNote} error=${answer.error} />`
  const found = answer.value
  if (!found) return html`<p>What was found is not in this report. Repeat it with <${Command} text=${`doorway check ${algorithm.name}`} /></p>`
  return html`<table class="claims"><thead><tr><th scope="col">property</th><th scope="col">claimed</th><th scope="col">found</th>
    <th scope="col">execution</th></tr></thead>
      <tbody>${inOrder(found.properties).map(property => html`<${PropertyRow} property=${property} />`)}</tbody></table>
    <${ConditionalClaims} algorithm=${algorithm} />
    <dl class="figures">
      <dt>size</dt><dd>n = ${found.n}${isKnown(found.k) ? `, k = ${found.k}` : ''}</dd>
      <dt>states</dt><dd>${grouped(found.states)}${found.complete ? '' : ' (not all)'}</dd>
      <dt>steps between them</dt><dd>${grouped(found.transitions)}</dd>
      <dt>time</dt><dd>${found.seconds < 0.1 ? `${(found.seconds * 1000).toFixed(1)} ms` : `${found.seconds.toFixed(1)} s`}</dd>
      ${isKnown(found.crashes) && html`<dt>survives</dt><dd>${found.crashes === 1 ? '1 crash' : `${found.crashes} crashes`}</dd>`}
      ${found.tso && html`<dt>with store buffers</dt><dd>${found.tso.fences}; without fences: ${found.tso.plain}</dd>`}
      ${found.safe && html`<dt>on safe registers</dt><dd>${found.safe}</dd>`}
    </dl>
    ${!found.complete && html`<${Note} tone="warn">The search is not complete: <${Prose} text=${found.reason} /></${Note}>`}
    <p>Repeat it: <${Command} text=${found.command} /></p>`
}

/** Disagreements first, then what fails, then the rest in the order of the data. */
function inOrder(properties) {
  const rank = property => property.agrees === false ? 0 : property.verdict === 'fails' ? 1 : 2
  return [...properties].sort((a, b) => rank(a) - rank(b))
}

function PropertyRow({ property }) {
  const tone = { holds: 'good', fails: 'bad' }[property.verdict] ?? 'plain'
  return html`<tr class=${property.agrees === false ? 'disagrees' : ''}>
    <th scope="row" title=${PROPERTIES[property.property]}>${property.property}</th>
    <td>${property.claimed ? claimedText(property.claimed, property.claimed_bound) : html`<span class="muted">nothing</span>`}</td>
    <td><${Chip} tone=${tone}>${foundText(property)}
      </${Chip}>${property.agrees === false && html` <${Chip} tone="warn">not as claimed</${Chip}>`}${property.note && html`<div class="why">${property.note}</div>`}</td>
    <td>${property.execution ? html`<a href=${propertyHref(property)}>show the execution</a>` : ''}</td></tr>`
}

function ConditionalClaims({ algorithm }) {
  const under = algorithm.claims.filter(claim => claim.conditions?.length)
  if (!under.length) return null
  return html`<p>Claimed besides: ${under.map(claim => `${claim.property} ${claimedText(claim.claimed, claim.bound)} with ${claim.conditions.map(name => CONDITIONS[name] ?? name).join(' and ')}`).join('; ')}.</p>`
}

function Remote({ algorithm, engine, found }) {
  const [isAsked, setAsked] = useState(!engine.canSearch)
  const answer = useAnswer(isAsked ? signal => engine.curves(algorithm, signal) : null, [algorithm, isAsked])
  const curves = answer.value ?? []
  return html`<div>
    ${found?.remote && html`<p>The worst passage at this size, exactly: <strong>${remoteText(found.remote.cc)}
      </strong> in the CC model, <strong>${remoteText(found.remote.dsm)}</strong> in the DSM model.</p>`}
    ${(found?.grown ?? []).map(grown => html`<p>As ${grown.variable} grows: <strong>${grown.cc ?? '–'}</strong> in CC, <strong>${grown.dsm ?? '–'}
      </strong> in DSM.</p>`)}
    ${!isAsked && html`<p>
      <button type="button" onClick=${() => setAsked(true)}>Measure the curves</button> simulates larger and larger sizes, which takes some seconds.</p>`}
    ${answer.state === 'busy' && html`<${Spinner}>Measuring…</${Spinner}>`}
    ${answer.state === 'failed' && html`<${ErrorNote} error=${answer.error} />`}
    ${answer.state === 'done' && (curves.length ? html`<${AlgorithmCurves} curves=${curves} />` : html`<p class="muted">No curve: this algorithm has one size, or none was measured.</p>`)}</div>`
}

function AlgorithmCurves({ curves }) {
  const variables = [...new Set(curves.map(curve => curve.variable))]
  return variables.map(variable => {
    const same = curves.filter(curve => curve.variable === variable)
    return html`<${CurveChart} key=${variable} variable=${variable} curves=${same.map(curve => ({ ...curve, name: COSTS[curve.cost] ?? curve.cost }))} />`
  })
}

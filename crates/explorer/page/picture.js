// The picture of an execution: a lane for each process, time downwards.
//
// `layOut` computes where everything is, `Picture` draws it. Every element carries its light colours as SVG attributes,
// so that an exported file needs no style sheet; page.css overrides them by class for the dark theme.

const ROW = 28
const HEAD = 34
const NUMBERS = 46
const LINE_X = 26
const LABEL_X = 42
const LETTER = 7.85
const NAME_LETTER = 6.1

/**
 * Where everything is.
 * @param {number | null} only the one process to show, or null for all
 * @param {number | null} cycle the index of the step with which the cycle starts
 */
function layOut(execution, cycle, only) {
  const processes = execution.states[0].processes.map((_, p) => p).filter(p => only === null || p === only)
  const shown = execution.steps.map((_, index) => index).filter(index => only === null || execution.steps[index].process === only)
  const rowOf = new Map(shown.map((index, row) => [index, row]))
  // The cycle gets a row of its own for the words "then for ever".
  const cycleRow = cycle === null ? null : shown.filter(index => index < cycle).length
  const y = row => HEAD + (row + (cycleRow !== null && row >= cycleRow ? 1 : 0)) * ROW
  const lineColumn = p => {
    const lengths = shown.map(index => execution.steps[index]).filter(step => step.process === p).map(step => step.line.length)
    return (Math.max(2, ...lengths) + 1) * LETTER
  }
  const bands = new Map(processes.map(p => [p, bandsOf(execution, shown, p)]))
  const widths = processes.map(p => laneWidth(execution, shown, p, bands.get(p), lineColumn(p)))
  const labels = Math.max(0, ...execution.states.at(-1).broken.map(violation => violation.property.length * 7.8 + 34))
  const lanes = NUMBERS + widths.reduce((sum, width) => sum + width, 0)
  return {
    processes, shown, rowOf, cycleRow, y, bands, lineColumn,
    /** Where the lanes end and the margin begins, in which broken properties and the cycle are named. */
    right: lanes,
    loop: lanes + Math.max(10, labels),
    width: lanes + Math.max(10, labels) + (cycle === null ? 0 : 112),
    x: p => NUMBERS + widths.slice(0, processes.indexOf(p)).reduce((sum, width) => sum + width, 0),
    laneWidth: p => widths[processes.indexOf(p)],
    middle: row => y(row) + ROW / 2,
    height: y(shown.length) + ROW + 8,
    /** The boundary that follows the first `at` steps. */
    boundary: at => y(shown.filter(index => index < at).length),
  }
}

/** A lane is as wide as its longest label, or as a label and the name of a section that starts beside it. */
function laneWidth(execution, shown, p, bands, lineColumn) {
  const starts = new Map(bands.map(band => [band.row, bandName(band).length * NAME_LETTER + 14]))
  const widths = shown.map((index, row) => {
    const own = execution.steps[index].process === p ? lineColumn + labelOf(execution.steps[index]).length * LETTER : 0
    return own + (starts.get(row) ?? 0)
  })
  return Math.round(LABEL_X + Math.max(110, starts.get(shown.length) ?? 0, ...widths) + 14)
}

function labelOf(step) {
  const arrives = step.arrives ? `  ${ARRIVALS[step.arrives] ?? step.arrives}` : ''
  return accessOf(step) + arrives
}

// The mark of such a step already says that a write becomes visible.
const accessOf = step => step.kind === 'visible' ? step.access.replace(/ (becomes|is) visible.*$/, '') : step.access

function Picture({ execution, at, cycle, only, onGo, svgRef }) {
  const plan = useMemo(() => layOut(execution, cycle, only), [execution, cycle, only])
  // The drawing of a long execution is kept while only the position changes.
  const still = useMemo(() => html`<g><${Bands} execution=${execution} plan=${plan} /><${Arrows} execution=${execution} plan=${plan} />
    <${Events} execution=${execution} plan=${plan} onGo=${onGo} /><${Broken} execution=${execution} plan=${plan} />
      <${Loop} execution=${execution} plan=${plan} /></g>`, [execution, plan, onGo])
  const box = useRef(null)
  const heads = useRef(null)
  const edge = plan.boundary(at)
  useLayoutEffect(() => {
    const view = box.current
    const scale = rem() / 16
    const [top, bottom] = [view.scrollTop / scale, (view.scrollTop + view.clientHeight) / scale]
    if (edge - 2 * ROW < top + HEAD) view.scrollTop = Math.max(0, edge - 3 * ROW - HEAD) * scale
    else if (edge + ROW > bottom) view.scrollTop = (edge + 2 * ROW) * scale - view.clientHeight
    const acting = execution.steps[at - 1]?.process
    if (acting === undefined || !plan.processes.includes(acting)) return
    const [left, right] = [plan.x(acting) * scale, (plan.x(acting) + plan.laneWidth(acting)) * scale]
    if (left < view.scrollLeft) view.scrollLeft = left - NUMBERS
    else if (right > view.scrollLeft + view.clientWidth) view.scrollLeft = right - view.clientWidth
  }, [edge, plan])
  const keepHeads = () => heads.current.setAttribute('transform', `translate(0 ${box.current.scrollTop * 16 / rem()})`)
  return html`<div class="picture" ref=${box} onScroll=${keepHeads} tabindex="0" role="region" aria-label="Picture of the execution, scrollable">
    <svg ref=${svgRef} class="lanes" width=${`${plan.width / 16}rem`} height=${`${plan.height / 16}rem`} viewBox="0 0 ${plan.width} ${plan.height}" role="img"
      font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" aria-label=${`Execution of ${execution.model.algorithm} with ${plural(execution.steps.length, 'step')}`}>
      <title>${`${execution.model.algorithm}, ${modelText(execution.model)}`}</title>
      <defs><marker id="seen" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">
        <path class="arrow-head" d="M0 0L8 4L0 8Z" fill="#7d7a72" /></marker>
        <marker id="seen-now" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">
          <path class="arrow-head now" d="M0 0L8 4L0 8Z" fill="#b3470f" /></marker></defs>
      <rect class="paper" width=${plan.width} height=${plan.height} fill="#ffffff" />
      ${still}
      <${Position} execution=${execution} plan=${plan} at=${at} edge=${edge} />
      <g ref=${heads} data-heads><${Heads} plan=${plan} /></g>
    </svg></div>`
}

/** The picture grows with the text of the page, which is larger in a wide window. */
const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize)

function Heads({ plan }) {
  return html`<g><rect class="paper" width=${plan.width} height=${HEAD - 4} fill="#ffffff" />
    <text class="muted" x=${NUMBERS - 12} y="21" text-anchor="end" fill="#6b6860" font-size="12">step</text>
    ${plan.processes.map(p => html`<text class="ink" x=${plan.x(p) + LINE_X - 10} y="21" font-weight="700" font-size="15" fill="#1c1b19">p${p}
      </text>`)}</g>`
}

/** The sections: a coloured band, with its name where it starts. */
function Bands({ execution, plan }) {
  return plan.processes.map(p => plan.bands.get(p).map(band => {
    const section = sectionOf(band.section)
    const x = plan.x(p)
    const from = plan.y(band.row)
    const to = plan.y(band.end) + ROW
    const dashes = band.crashed ? '2 5' : null
    return html`<g><rect class="band ${section.class}" x=${x + 2} y=${from} width=${plan.laneWidth(p) - 4} height=${to - from} fill=${section.fill} />
      <text class="section-name" x=${x + plan.laneWidth(p) - 9} y=${from + 18} text-anchor="end" font-size="11" font-family="system-ui, sans-serif" fill="#55524b">${bandName(band)}</text>
      <line class="thread" x1=${x + LINE_X} x2=${x + LINE_X} y1=${from} y2=${to} stroke="#8a877f" stroke-width="1.5" stroke-dasharray=${dashes} />
        </g>`
  }))
}

const bandName = band => band.crashed ? `crashed in ${sectionOf(band.section).name}` : sectionOf(band.section).name

/** Rows with the same section are one band. Row r shows the state before step r; one more row shows the last state. */
function bandsOf(execution, shown, p) {
  const bands = []
  for (let row = 0; row <= shown.length; row++) {
    const state = row < shown.length ? shown[row] : execution.states.length - 1
    const { section, crashed } = execution.states[state].processes[p]
    const last = bands.at(-1)
    if (last && last.section === section && last.crashed === Boolean(crashed)) last.end = row
    else bands.push({ section, crashed: Boolean(crashed), row, end: row })
  }
  return bands
}

function Events({ execution, plan, onGo }) {
  return plan.shown.map((index, row) => {
    const step = execution.steps[index]
    const x = plan.x(step.process)
    const y = plan.middle(row)
    return html`<g class="event" data-step=${index + 1} onClick=${() => onGo(index + 1)}>
      <title>${eventTitle(execution, step, index)}</title>
      <rect class="hit" x="0" y=${y - ROW / 2} width=${plan.right} height=${ROW} fill="#000000" fill-opacity="0" />
      <text class="muted" x=${NUMBERS - 12} y=${y + 4.5} text-anchor="end" fill="#6b6860" font-size="12">${index + 1}</text>
      <${Mark} step=${step} x=${x + LINE_X} y=${y} />
      <text class="label ink" x=${x + LABEL_X} y=${y + 4.5} fill="#1c1b19" xml:space="preserve"><tspan class="line muted" fill="#6b6860">${step.line}
        </tspan><tspan x=${x + LABEL_X + plan.lineColumn(step.process)}>${accessOf(step)}
        </tspan>${step.arrives && html`<tspan class="arrives" dx="9" font-weight="700">${ARRIVALS[step.arrives] ?? step.arrives}
        </tspan>`}${isHiddenSource(step, plan) && html`<tspan class="muted" dx="9" fill="#6b6860">from p${execution.steps[step.from].process}, step ${step.from + 1}</tspan>`}</text></g>`
  })
}

const isHiddenSource = (step, plan) => hasSource(step) && !plan.rowOf.has(step.from)
const isJoined = (step, plan) => hasSource(step) && plan.rowOf.has(step.from)
const hasSource = step => step.from !== null && step.from !== undefined

function eventTitle(execution, step, index) {
  const remote = ['cc', 'dsm'].filter(cost => step.remote?.[cost]).map(cost => COSTS[cost])
  return [
    `step ${index + 1}: ${actionText(step)}`,
    hasSource(step) ? `reads what step ${step.from + 1} wrote` : step.reads ? 'reads the initial value' : '',
    remote.length ? `remote memory reference in ${remote.join(' and ')}` : 'no remote memory reference',
  ].filter(Boolean).join('\n')
}

/** The shape says what the step does: a circle reads, a square writes, a diamond does both. */
function Mark({ step, x, y }) {
  const solid = { class: 'mark solid', fill: '#1c1b19', stroke: '#1c1b19', 'stroke-width': 1.5 }
  const hollow = { class: 'mark hollow', fill: '#ffffff', stroke: '#1c1b19', 'stroke-width': 1.8 }
  if (step.kind === 'crashes' || step.kind === 'dies') return html`<path class="mark cross" d="M${x - 6} ${y - 6}L${x + 6} ${y + 6}M${x + 6} ${y - 6}L${x - 6} ${y + 6}" stroke="#a3231b" stroke-width="3" fill="none" />`
  if (step.kind === 'aborts' || step.kind === 'expires') return html`<path ...${hollow} d="M${x - 6} ${y + 5}L${x} ${y - 6}L${x + 6} ${y + 5}Z" />`
  if (step.kind === 'visible') return html`<path ...${solid} d="M${x - 6} ${y - 5}L${x} ${y + 6}L${x + 6} ${y - 5}Z" />`
  if (step.reads && step.writes) return html`<path ...${solid} d="M${x} ${y - 7}L${x + 7} ${y}L${x} ${y + 7}L${x - 7} ${y}Z" />`
  if (step.reads) return html`<circle ...${hollow} cx=${x} cy=${y} r="5.2" />`
  if (step.writes) return html`<rect ...${solid} x=${x - 5} y=${y - 5} width="10" height="10" />`
  if (isBuffered(step)) return html`<rect ...${hollow} x=${x - 5} y=${y - 5} width="10" height="10" />`
  return html`<line class="mark cross" x1=${x - 6} x2=${x + 6} y1=${y} y2=${y} stroke="#1c1b19" stroke-width="2" />`
}

function arrowPath(execution, plan, index) {
  const step = execution.steps[index]
  const source = execution.steps[step.from]
  const x1 = plan.x(source.process) + LINE_X
  const y1 = plan.middle(plan.rowOf.get(step.from))
  const x2 = plan.x(step.process) + LINE_X
  const y2 = plan.middle(plan.rowOf.get(index))
  if (source.process === step.process) return `M${x1 - 6} ${y1}C${x1 - 22} ${y1 + 8} ${x1 - 22} ${y2 - 8} ${x2 - 7} ${y2}`
  // Between lanes an arrow runs along the gap between two rows and along the left edge of a lane, where no text is.
  const track = 5 + index % 4 * 3
  if (x1 < x2) return roundedPath([[x1, y1 + 5], [x1, y1 + ROW / 2], [x2 - LINE_X + track, y1 + ROW / 2], [x2 - LINE_X + track, y2], [x2 - 7, y2]])
  return roundedPath([[x1 - 6, y1], [x1 - LINE_X + track, y1], [x1 - LINE_X + track, y2 - ROW / 2], [x2, y2 - ROW / 2], [x2, y2 - 7]])
}

/** Straight pieces with round corners. */
function roundedPath(points) {
  const toward = ([x, y], [toX, toY], limit) => {
    const length = Math.hypot(toX - x, toY - y)
    const part = length ? Math.min(limit, length / 2) / length : 0
    return `${x + (toX - x) * part} ${y + (toY - y) * part}`
  }
  const corners = points.slice(1, -1).map((corner, index) => `L${toward(corner, points[index], 6)}Q${corner.join(' ')} ${toward(corner, points[index + 2], 6)}`)
  return `M${points[0].join(' ')}${corners.join('')}L${points.at(-1).join(' ')}`
}

/** An arrow to the first read of each process that saw a write; later ones would only hide the picture of a waiter. */
function Arrows({ execution, plan }) {
  const drawn = new Set()
  const isFirst = index => {
    const key = `${execution.steps[index].process} ${execution.steps[index].from}`
    return !drawn.has(key) && drawn.add(key)
  }
  return plan.shown.filter(index => isJoined(execution.steps[index], plan) && isFirst(index)).map(index =>
    html`<path class="arrow" d=${arrowPath(execution, plan, index)} fill="none" stroke="#7d7a72" stroke-width="1.2" marker-end="url(#seen)" />`)
}

/** Where a property broke: a line across the lanes, and its name beside them. */
function Broken({ execution, plan }) {
  const places = new Map()
  for (const violation of execution.states.at(-1).broken) places.set(violation.at, [...places.get(violation.at) ?? [], violation])
  return [...places].map(([at, violations]) => {
    const y = plan.boundary(at)
    const right = plan.right
    return html`<g><line class="broken-line" x1="4" x2=${right + 6} y1=${y} y2=${y} stroke="#a3231b" stroke-width="2.5" />
      ${violations.map((violation, index) => html`<text class="broken-text" x=${right + 12} y=${y + 5 + 17 * index} font-weight="700" fill="#a3231b" font-family="system-ui, sans-serif">✗ ${violation.property}</text>`)}</g>`
  })
}

/** A lasso: the words "then for ever" above the cycle, and an arrow from its end back to its start. */
function Loop({ execution, plan }) {
  if (plan.cycleRow === null) return null
  const top = plan.y(plan.cycleRow)
  const bottom = plan.y(plan.shown.length)
  const right = plan.right
  const outer = plan.loop + 24
  const path = roundedPath([[right + 2, bottom - 10], [outer, bottom - 10], [outer, top + 10], [right + 4, top + 10]])
  return html`<g><rect class="paper" x="0" y=${top - ROW} width=${right} height=${ROW} fill="#ffffff" />
    <text class="loop-text" x=${NUMBERS} y=${top - 9} font-weight="700" font-size="14" fill="#7a3d00" font-family="system-ui, sans-serif">then for ever:</text>
    <path class="loop" d=${path} fill="none" stroke="#7a3d00" stroke-width="2" marker-end="url(#seen)" />
    <text class="loop-text" x=${outer + 10} y=${(top + bottom) / 2 + 5} font-weight="700" fill="#7a3d00" font-family="system-ui, sans-serif">for ever</text></g>`
}

/** The position in the execution: what comes after it is pale. */
function Position({ execution, plan, at, edge }) {
  const right = plan.right
  const index = at - 1
  const step = execution.steps[index]
  const isShown = plan.rowOf.has(index)
  const top = isShown ? plan.middle(plan.rowOf.get(index)) - ROW / 2 : edge
  return html`<g data-page-only pointer-events="none">
    ${at < execution.steps.length && html`<rect class="future" x="0" y=${edge + 1} width=${right} height=${plan.height - edge} fill="#ffffff" fill-opacity="0.62" />`}
    ${isShown && html`<rect class="current" x="2" y=${top} width=${right - 2} height=${ROW} fill="none" stroke="#b3470f" stroke-width="1.5" />`}
    ${isShown && isJoined(step, plan) && html`<path class="arrow now" d=${arrowPath(execution, plan, index)} fill="none" stroke="#b3470f" stroke-width="2.2" marker-end="url(#seen-now)" />`}
    <path class="position" d="M0 ${edge - 6}L9 ${edge}L0 ${edge + 6}Z" fill="#b3470f" /></g>`
}

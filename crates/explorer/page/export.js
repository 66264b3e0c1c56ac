// An execution as a file: text, JSON, ITF, SVG.

/** The execution as `doorway check` prints it. */
function asText(execution, cycle) {
  const steps = execution.steps
  const digits = Math.max(3, String(steps.length).length)
  const lineWidth = Math.max(0, ...steps.map(step => step.line.length))
  const accessWidth = Math.max(0, ...steps.filter(step => step.arrives).map(step => step.access.length))
  const rows = steps.map((step, index) => {
    const access = step.arrives ? `${step.access.padEnd(accessWidth)}  -> ${step.arrives}` : step.access
    return `${String(index + 1).padStart(digits + 1)}  p${step.process}  ${step.line.padEnd(lineWidth)}  ${access}`
  })
  if (cycle !== null && cycle < rows.length) rows.splice(cycle, 0, '  then for ever')
  const model = execution.model
  const broken = execution.states.at(-1).broken.map(violation => `${violation.property} FAILS in ${plural(violation.at, 'step')}: ${violation.note}`)
  return [`${model.algorithm}: ${modelText(model)}`, ...broken, ...rows, ''].join('\n')
}

/**
 * The execution in the Informal Trace Format of Apalache, which other viewers read:
 * https://apalache-mc.org/docs/adr/015adr-trace.html
 */
function asItf(execution, cycle, version) {
  const registers = execution.registers.map(register => register.name)
  const states = execution.states.map((state, index) => ({
    '#meta': { index },
    action: index === 0 ? 'init' : actionText(execution.steps[index - 1]),
    section: { '#map': state.processes.map((process, p) => [bigint(p), process.section]) },
    ...Object.fromEntries(registers.map((name, register) => [name, itfValue(state.registers[register])])),
  }))
  // The last state of a lasso is the one that the cycle starts with, and ITF wants it once.
  const isLasso = cycle !== null && cycle < execution.steps.length
  return {
    '#meta': {
      format: 'ITF',
      'format-description': 'https://apalache-mc.org/docs/adr/015adr-trace.html',
      description: `${execution.model.algorithm}, ${modelText(execution.model)}; doorway ${version}`,
      choices: joinChoices(execution.steps.map(step => step.choice)),
    },
    vars: ['action', 'section', ...registers],
    states: isLasso ? states.slice(0, -1) : states,
    ...(isLasso ? { loop: cycle } : {}),
  }
}

const actionText = step => `p${step.process}${step.line ? ` line ${step.line}` : ''}: ${step.access}`

const bigint = number => ({ '#bigint': String(number) })

function itfValue(text) {
  if (/^-?\d+$/.test(text)) return bigint(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return text
}

/** A picture in the page as a file of its own: its elements carry their colours as attributes. */
function asSvg(svg) {
  const copy = svg.cloneNode(true)
  for (const element of copy.querySelectorAll('[data-page-only]')) element.remove()
  for (const element of [copy, ...copy.querySelectorAll('*')]) {
    for (const name of ['class', 'tabindex', 'style']) element.removeAttribute(name)
  }
  copy.querySelector('[data-heads]')?.removeAttribute('transform')
  const [, , width, height] = copy.getAttribute('viewBox').split(' ')
  copy.setAttribute('width', width)
  copy.setAttribute('height', height)
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`
}

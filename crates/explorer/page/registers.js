// The registers as a grid: arrays in rows, homes beside names, and what the latest step changed or read.

function Registers({ execution, at, isHidingUnchanged }) {
  const groups = useMemo(() => groupRegisters(execution.registers), [execution.registers])
  const changed = useMemo(() => changedRegisters(execution), [execution])
  const state = execution.states[at]
  const step = at > 0 ? execution.steps[at - 1] : null
  const before = at > 0 ? execution.states[at - 1] : null
  const isShown = register => !isHidingUnchanged || changed.has(register)
  const hidden = execution.registers.filter((_, register) => !isShown(register)).length
  return html`<div class="registers">
    ${groups.map(rows => rows.map(row => row.filter(isShown)).filter(row => row.length).map(row => html`<ul>${row.map(register => html`<${Cell}
      register=${execution.registers[register]} value=${state.registers[register]} was=${before?.registers[register]}
      writer=${state.writers?.[register]} step=${step?.register === register ? step : null} />`)}</ul>`))}
    ${hidden > 0 && html`<p class="muted">${plural(hidden, 'register')} hidden: no step of this execution changes them.</p>`}</div>`
}

function Cell({ register, value, was, writer, step }) {
  const isChanged = was !== undefined && was !== value
  const mark = isChanged ? 'changed' : step?.reads ? 'read' : ''
  const home = isKnown(register.home) && html`<span class="home" title=${`its home is process ${register.home}`}> @p${register.home}</span>`
  return html`<li class="cell ${mark}" data-register=${register.name}>
    <span class="cell-name">${register.name}${home}</span>
    <span class="cell-value">${value}</span>
    <span class="cell-note">${deedText(step, isChanged, was)}${isKnown(writer) && ` p${writer} is writing`}</span></li>`
}

/** What the latest step did to a register. */
function deedText(step, isChanged, was) {
  if (!step) return ''
  if (isChanged) return `p${step.process} wrote; was ${was}`
  if (step.reads) return `p${step.process} read`
  return isBuffered(step) ? `in p${step.process}'s buffer` : `p${step.process} wrote`
}

/** The indices of the registers by their names: one group for each array, one row for each first index of a matrix. */
function groupRegisters(registers) {
  const groups = new Map()
  for (const [index, { name }] of registers.entries()) {
    const [base, first, second] = name.split('[')
    const key = first === undefined ? '' : base
    const row = second === undefined ? '' : first
    if (!groups.has(key)) groups.set(key, new Map())
    const rows = groups.get(key)
    rows.set(row, [...rows.get(row) ?? [], index])
  }
  return [...groups.values()].map(rows => [...rows.values()])
}

function changedRegisters(execution) {
  const initial = execution.states[0].registers
  const changed = new Set()
  for (const state of execution.states) {
    for (const [register, value] of state.registers.entries()) if (value !== initial[register]) changed.add(register)
  }
  return changed
}

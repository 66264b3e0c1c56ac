// The processes: where each is, what it can do next, and what it has cost so far.

const CC = 'Remote memory references in the cache-coherent model: in this passage, and in all'
const DSM = 'Remote memory references in the distributed-shared-memory model: in this passage, and in all'

/** @param {{onChoose: ((choice: string) => void) | null}} props null: nothing can be chosen here */
function Processes({ execution, at, onChoose }) {
  const state = execution.states[at]
  const remote = useMemo(() => countRemote(execution), [execution])[at]
  return html`<table class="processes">
    <thead><tr>
      <th scope="col">process</th>
      <th scope="col">section</th>
      <th scope="col">${onChoose ? 'next: choose a step' : 'next step'}</th>
      <th scope="col" title=${CC}>RMR CC</th>
      <th scope="col" title=${DSM}>RMR DSM</th>
    </tr></thead>
    <tbody>${state.processes.map((_, p) => html`<${ProcessRows} state=${state} p=${p} remote=${remote} onChoose=${onChoose} />`)}</tbody>
  </table>`
}

/** A row for the process, and one for its store buffer where the model has these. */
function ProcessRows({ state, p, remote, onChoose }) {
  const process = state.processes[p]
  const section = sectionOf(process.section)
  const choices = state.choices.filter(choice => choice.process === p)
  return html`<tr data-process=${p}>
      <th scope="row">p${p}</th>
      <td><span class="section ${section.class}">${section.name}</span>${process.crashed && html` <${Chip} tone="bad">crashed</${Chip}>`}</td>
      <td class="choices"><${Choices} process=${process} choices=${choices} onChoose=${onChoose} /></td>
      <td class="count"><${Count} pair=${remote.cc[p]} /></td>
      <td class="count"><${Count} pair=${remote.dsm[p]} /></td>
    </tr>
    ${state.buffers && html`<tr class="buffer" data-buffer=${p}><td></td><td colspan="4"><${Buffer} writes=${state.buffers[p]} /></td></tr>`}`
}

function Buffer({ writes }) {
  if (writes.length === 0) return html`<span class="muted">store buffer: empty</span>`
  return html`<span class="muted">store buffer, oldest first:</span> ${writes.map(write => html`<code>${write}</code> `)}`
}

function Count({ pair: [passage, all] }) {
  return html`<span title=${`${passage} in this passage, ${all} in all`}><strong>${passage}</strong> <span class="muted">/ ${all}</span></span>`
}

function Choices({ process, choices, onChoose }) {
  if (choices.length === 0) return html`<span class="muted">${process.crashed ? 'takes no further step' : 'no step is possible'}</span>`
  return choices.map(choice => html`
    <button type="button" class="choice ${choice.kind}" data-choice=${choice.choice} title=${choiceTitle(choice)}
      disabled=${!onChoose} onClick=${() => onChoose(choice.choice)}>
      ${choice.kind === 'step' && process.line && html`<span class="line">${process.line}</span>`}${choiceText(choice)}
    </button>`)
}

function choiceText(choice) {
  if (choice.kind === 'visible') return `make visible: ${accessOf({ kind: 'visible', access: choice.text })}`
  return { crashes: 'crash', dies: 'die', aborts: 'abort' }[choice.kind] ?? choice.text
}

function choiceTitle(choice) {
  const keys = { step: `; key ${choice.process}`, crashes: `; keys c ${choice.process}` }[choice.kind] ?? ''
  return `p${choice.process}: ${choice.text}${choice.process < 10 ? keys : ''}`
}

/** For each state, cost and process: the remote memory references in the current or latest passage, and in all. */
function countRemote(execution) {
  const none = execution.states[0].processes.map(() => [0, 0])
  const counts = [{ cc: none, dsm: none }]
  for (const step of execution.steps) {
    const isStart = step.kind === 'step' && step.section === 'remainder'
    const add = cost => counts.at(-1)[cost].map(([passage, all], p) => {
      if (p !== step.process) return [passage, all]
      const one = step.remote?.[cost] ? 1 : 0
      return [(isStart ? 0 : passage) + one, all + one]
    })
    counts.push({ cc: add('cc'), dsm: add('dsm') })
  }
  return counts
}

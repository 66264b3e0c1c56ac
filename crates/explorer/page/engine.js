// The two feeds of the page behind one interface.
//
//   execution(model, choices)  -> Promise<Execution>; `fixed` is set if no other choice can be taken
//   found(algorithm, signal)   -> Promise<Found | null>
//   curves(algorithm, signal)  -> Promise<Curve[] | null>; null: not part of the report
//   shortest(puzzle, algorithm) -> Promise<string | null>: the choices of a shortest execution to the goal
//   canChoose(model)           -> whether any choice of this model can be taken
//   canSearch                  -> whether found and curves can be computed for other models

/** A message for the reader: it is shown as it is. */
class Message extends Error {}

async function openEngine() {
  const element = document.getElementById('report')
  if (element) return new ReportEngine(JSON.parse(element.textContent))
  return new ServerEngine(await getJson('/api/report'))
}

async function getJson(path, signal) {
  let response
  try {
    response = await fetch(path, { signal })
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Message('The server does not answer: `doorway explore` may have ended. Start it again and reload this page.')
  }
  const text = await response.text()
  let answer
  try {
    answer = JSON.parse(text)
  } catch {
    throw new Message(`The server answered ${response.status} without JSON to ${path}.`)
  }
  if (answer.error) throw new Message(answer.error)
  if (!response.ok) throw new Message(`The server answered ${response.status} to ${path}.`)
  return answer
}

/** `doorway explore`: the checker itself takes the steps. */
class ServerEngine {
  canSearch = true

  constructor(report) {
    this.report = report
    this.answers = new Map()
  }

  canChoose() {
    return true
  }

  execution(model, choices) {
    const query = modelQuery(model)
    query.set('choices', joinChoices(choices))
    return getJson(`/api/execution?${query}`)
  }

  async found(algorithm, signal, model = defaultModel(algorithm)) {
    const { found } = await this.#once(`/api/found?${modelQuery(model)}`, signal)
    // The other views then know it as those of a report do.
    if (modelKey(model) === modelKey(defaultModel(algorithm))) algorithm.found = found
    return found
  }

  async shortest(puzzle, algorithm) {
    const found = await this.found(algorithm, undefined, puzzle.model)
    return found.properties.find(one => one.property === puzzle.property)?.execution?.choices ?? null
  }

  curves(algorithm, signal) {
    return this.#once(`/api/curves?algorithm=${encodeURIComponent(algorithm.name)}`, signal).then(answer => answer.curves)
  }

  // A search can take seconds: its answer is kept, but not that of a search that was left.
  async #once(path, signal) {
    if (!this.answers.has(path)) this.answers.set(path, await getJson(path, signal))
    return this.answers.get(path)
  }
}

/** A report: steps are taken along the graph in the file. */
class ReportEngine {
  canSearch = false

  constructor(report) {
    this.report = report
    this.graphs = new Map()
  }

  canChoose(model) {
    return this.#hasGraph(model) && modelKey(model) === modelKey(this.#graphModel(model))
  }

  async execution(model, choices) {
    const graph = await this.#graph(model)
    if (graph) return walk(graph, choices)
    const known = this.#embedded(model, choices)
    if (known) return { ...known, fixed: true }
    throw new Message(`This report has no executions of \`${model.algorithm}\` with ${modelText(model)} and these choices. \`doorway explore ${model.algorithm}\` shows them.`)
  }

  async found(algorithm) {
    return algorithm.found
  }

  async shortest(puzzle) {
    const graph = await this.#graph(puzzle.model)
    return graph && shortestTo(graph, step => step.breaks?.some(violation => violation.property === puzzle.property))
  }

  async curves(algorithm) {
    return algorithm.curves ?? []
  }

  #algorithm(name) {
    return this.report.algorithms.find(algorithm => algorithm.name === name)
  }

  #hasGraph(model) {
    return Boolean(this.#algorithm(model.algorithm)?.graph && document.getElementById(`graph-${model.algorithm}`))
  }

  // Before a graph is unpacked its model is taken to be the default one; an algorithm may say otherwise.
  #graphModel(model) {
    const algorithm = this.#algorithm(model.algorithm)
    const unpacked = this.graphs.get(model.algorithm)?.model
    return unpacked ?? algorithm.graph_model ?? defaultModel(algorithm)
  }

  async #graph(model) {
    if (!this.#hasGraph(model)) return null
    if (!this.graphs.has(model.algorithm)) {
      this.graphs.set(model.algorithm, await unpack(document.getElementById(`graph-${model.algorithm}`)))
    }
    const graph = this.graphs.get(model.algorithm)
    return modelKey(graph.model) === modelKey(model) ? graph : null
  }

  // Without a graph, the counterexamples are known as whole executions, and so is each beginning of one.
  #embedded(model, choices) {
    const wanted = joinChoices(choices)
    const algorithm = this.#algorithm(model.algorithm)
    for (const property of [...algorithm?.found?.properties ?? [], ...algorithm?.counterexamples ?? []]) {
      const execution = property.execution
      if (!execution?.full || modelKey(execution.model) !== modelKey(model)) continue
      if (execution.choices === wanted || execution.choices.startsWith(`${wanted}.`)) return prefix(execution.full, choices.length)
    }
    return null
  }
}

const prefix = (execution, length) => ({
  ...execution,
  steps: execution.steps.slice(0, length),
  states: execution.states.slice(0, length + 1),
})

async function unpack(element) {
  const packed = atob(element.textContent.trim())
  const bytes = new Uint8Array(packed.length)
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text())
}

/** Takes the choices along a graph, and adds what depends on the execution: `from` of steps and `at` of broken properties. */
function walk(graph, choices) {
  let at = 0
  const steps = []
  const broken = new Map()
  const states = [{ ...graph.states[0], broken: [] }]
  let refused = null
  const writers = new Writers()
  for (const [index, choice] of choices.entries()) {
    const taken = graph.states[at].choices.findIndex(possible => possible.choice === choice)
    if (taken < 0) {
      refused = { at: index, choice, why: whyRefused(choice, graph.states[at]) }
      break
    }
    const [step, next] = graph.next[at][taken]
    steps.push({ ...graph.steps[step], from: writers.see(graph.steps[step], index) })
    at = next
    // A violated property stays violated, with the note and the place of its first violation.
    for (const violation of graph.steps[step].breaks ?? []) {
      if (!broken.has(violation.property)) broken.set(violation.property, { ...violation, at: index + 1 })
    }
    states.push({ ...graph.states[at], broken: [...broken.values()] })
  }
  return { model: graph.model, registers: graph.registers, steps, states, refused }
}

/** The fewest choices of which the last one is a goal, or null. */
function shortestTo(graph, isGoal) {
  const cameBy = new Map([[0, null]])
  // A map is iterated in the order of insertion, also over what is inserted meanwhile: this is a breadth-first search.
  for (const at of cameBy.keys()) {
    for (const [index, [step, next]] of graph.next[at].entries()) {
      if (isGoal(graph.steps[step])) return joinChoices([...pathTo(cameBy, at), graph.states[at].choices[index].choice])
      if (!cameBy.has(next)) cameBy.set(next, { from: at, choice: graph.states[at].choices[index].choice })
    }
  }
  return null
}

function pathTo(cameBy, goal) {
  const choices = []
  for (let edge = cameBy.get(goal); edge; edge = cameBy.get(edge.from)) choices.unshift(edge.choice)
  return choices
}

// The words of the server.
function whyRefused(choice, state) {
  const possible = state.choices.map(choice => choice.choice).join(', ') || 'nothing'
  return `\`${choice}\` cannot happen in this state; possible: ${possible}`
}

/** Which step wrote what a read returns. */
class Writers {
  visible = new Map()
  pending = new Map()

  /** Notes the step with this index, and returns the index of the step whose write it read, or null. */
  see(step, index) {
    const own = this.pending.get(step.process) ?? []
    // With store buffers a process reads its own latest pending write before memory.
    const forwarded = own.findLast(write => write.register === step.register)
    const from = step.reads ? forwarded?.index ?? this.visible.get(step.register) ?? null : null
    if (step.kind === 'visible') {
      this.pending.set(step.process, own.slice(1))
    } else if (isBuffered(step)) {
      this.pending.set(step.process, [...own, { register: step.register, index }])
    }
    // What becomes visible was written by an earlier step.
    if (step.writes) this.visible.set(step.register, step.kind === 'visible' ? own[0]?.index ?? index : index)
    return from
  }
}

const isBuffered = step => step.kind === 'step' && step.register !== null && !step.reads && !step.writes && step.access.includes(':=')

// Models, lists of choices, and their form in the address.

const OPTIONS = ['crashes', 'deaths', 'aborts', 'expiries', 'safe', 'tso', 'fences', 'passages']
const DEFAULTS = { crashes: 0, deaths: false, aborts: false, expiries: false, safe: false, tso: false, fences: true, passages: null }

/** The model in which an algorithm is checked by default. */
const defaultModel = algorithm => ({ algorithm: algorithm.name, n: algorithm.n, k: algorithm.k ?? null, ...DEFAULTS })

/** The model with a value for every option. */
const complete = model => ({ ...DEFAULTS, ...model, k: model.k ?? null })

/** A text that is equal for equal models. */
function modelKey(model) {
  const whole = complete(model)
  return ['algorithm', 'n', 'k', ...OPTIONS].map(name => `${name}=${whole[name]}`).join('&')
}

/** The query parameters of a model: only what differs from the defaults, so that links stay short. */
function modelQuery(model) {
  const query = new URLSearchParams({ algorithm: model.algorithm, n: String(model.n) })
  if (model.k !== null && model.k !== undefined) query.set('k', String(model.k))
  for (const name of OPTIONS) {
    const value = complete(model)[name]
    if (value !== DEFAULTS[name]) query.set(name, String(value))
  }
  return query
}

/** The model that query parameters name; `algorithm` fills in what they omit. */
function modelFromQuery(query, algorithm) {
  const number = (name, missing) => query.has(name) && /^\d+$/.test(query.get(name)) ? Number(query.get(name)) : missing
  const truth = (name, missing) => query.has(name) ? query.get(name) === 'true' : missing
  return {
    algorithm: algorithm.name,
    n: number('n', algorithm.n),
    k: number('k', algorithm.k ?? null),
    crashes: number('crashes', 0),
    deaths: truth('deaths', false),
    aborts: truth('aborts', false),
    expiries: truth('expiries', false),
    safe: truth('safe', false),
    tso: truth('tso', false),
    fences: truth('fences', true),
    passages: number('passages', null),
  }
}

/** The model in words: `n = 2, k = 1, store buffers`. */
function modelText(model) {
  const words = [`n = ${model.n}`]
  if (model.k !== null && model.k !== undefined) words.push(`k = ${model.k}`)
  if (model.crashes) words.push(`at most ${plural(model.crashes, 'crash').replace('crashs', 'crashes')}`)
  if (model.deaths) words.push('deaths')
  if (model.aborts) words.push('aborts')
  if (model.expiries) words.push('expiries')
  if (model.safe) words.push('safe registers')
  if (model.tso) words.push(model.fences === false ? 'store buffers without fences' : 'store buffers')
  if (model.passages) words.push(plural(model.passages, 'passage') + ' each')
  return words.join(', ')
}

const splitChoices = text => text ? text.split('.') : []
const joinChoices = choices => choices.join('.')

/** A route: `#/execution?algorithm=peterson` is the path `['execution']` and the query. */
function parseRoute(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) }
}

// A damaged link has to show a message and not an exception.
function decode(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const algorithmHref = name => `#/algorithm/${encodeURIComponent(name)}`

/**
 * The address of an execution.
 * @param {{at?: number, cycle?: number | null, property?: string | null, version?: string}} more
 */
function executionHref(model, choices, more = {}, view = 'execution') {
  const query = modelQuery(model)
  if (more.property) query.set('property', more.property)
  if (choices) query.set('choices', choices)
  if (more.cycle !== null && more.cycle !== undefined) query.set('cycle', String(more.cycle))
  if (more.at !== undefined) query.set('at', String(more.at))
  if (more.version) query.set('v', more.version)
  return `#/${view}?${query}`
}

/** The command that prints the same check. */
function checkCommand(model) {
  const words = ['doorway', 'check', model.algorithm, '-n', String(model.n)]
  if (model.k !== null && model.k !== undefined && model.k !== 1) words.push('-k', String(model.k))
  if (model.crashes) words.push('--crashes', String(model.crashes))
  if (model.deaths) words.push('--deaths')
  if (model.aborts) words.push('--aborts')
  if (model.expiries) words.push('--expiries')
  if (model.safe) words.push('--registers', 'safe')
  if (model.tso) words.push('--memory', 'tso')
  if (model.fences === false) words.push('--no-fences')
  return words.join(' ')
}

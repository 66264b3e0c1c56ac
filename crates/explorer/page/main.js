// The frame of the page: navigation, theme, and which view the address names.

const VIEWS = [['', 'Algorithms'], ['puzzles', 'Break it'], ['measurements', 'Measurements']]

function App({ engine }) {
  const route = useRoute()
  const [theme, setTheme] = useTheme()
  const [view = '', name = ''] = route.path
  useEffect(() => {
    document.title = [name || route.query.get('algorithm') || VIEWS.find(([path]) => path === view)?.[1], 'doorway'].filter(Boolean).join(' – ')
    scrollTo(0, 0)
  }, [view, name])
  return html`<${Shared.Provider} value=${engine}><${Theme.Provider} value=${theme}>
    <a class="skip" href="#content" onClick=${skipToContent}>Skip to the content</a>
    <header class="top"><a class="brand" href="#/">doorway</a>
      <nav aria-label="Views">${VIEWS.map(([path, title]) => html`<a href=${`#/${path}`} aria-current=${isCurrent(view, path) ? 'page' : null}>${title}</a>`)}</nav>
      <span class="gap"></span><span class="muted">version ${engine.report.version}${engine.canSearch ? '' : ', report'}</span>
      <${ThemeButton} theme=${theme} setTheme=${setTheme} /></header>
    <div id="content" tabindex="-1"><${Current} view=${view} name=${name} route=${route} /></div></${Theme.Provider}></${Shared.Provider}>`
}

function Current({ view, name, route }) {
  if (view === '') return html`<${Catalogue} />`
  if (view === 'algorithm') return html`<${AlgorithmView} name=${name} />`
  if (view === 'execution') return html`<${ExecutionView} query=${route.query} />`
  if (view === 'puzzles') return html`<${Puzzles} query=${route.query} />`
  if (view === 'measurements') return html`<${Measurements} />`
  return html`<main class="page"><${Note} tone="bad">The page has no view called <code>${view}</code>.</${Note}><p><a href="#/">All algorithms</a></p>
    </main>`
}

const isCurrent = (view, path) => view === path || (path === '' && (view === 'algorithm' || view === 'execution'))

// The hash is the route: following `#content` would leave the view.
function skipToContent(event) {
  event.preventDefault()
  document.getElementById('content').focus()
}

function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const change = () => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return route
}

/** The theme is the system's until the button chooses another. */
function useTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const [theme, setTheme] = useState(stored.get('theme') ?? (dark.matches ? 'dark' : 'light'))
  useLayoutEffect(() => { document.documentElement.dataset.theme = theme }, [theme])
  useEffect(() => {
    const follow = () => stored.get('theme') ?? setTheme(dark.matches ? 'dark' : 'light')
    dark.addEventListener('change', follow)
    return () => dark.removeEventListener('change', follow)
  }, [])
  return [theme, setTheme]
}

function ThemeButton({ theme, setTheme }) {
  const other = theme === 'dark' ? 'light' : 'dark'
  const press = () => {
    stored.set('theme', other)
    setTheme(other)
  }
  return html`<button type="button" class="theme" onClick=${press}>${other === 'dark' ? 'Dark' : 'Light'}</button>`
}

const root = document.getElementById('page')
root.textContent = 'Loading…'
openEngine().then(
  engine => {
    root.textContent = ''
    render(html`<${App} engine=${engine} />`, root)
  },
  error => { root.textContent = errorText(error) },
)

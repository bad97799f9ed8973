import { render } from 'solid-js/web'
import { App } from './app.tsx'
import { followLinks } from './route.ts'
import './styles/bar.css'
import './styles/table.css'
import './styles/token.css'
import './styles/chains.css'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no #app')
followLinks()
render(() => <App />, root)

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { rememberScrolling } from "./scroll";
import "./styles/palette.css";
import "./styles/base.css";
import "./styles/rows.css";
import "./styles/pages.css";
import "./styles/frame.css";
import "./styles/print.css";
import "./styles/ranks.css";
import "./styles/compare.css";
import "./styles/items.css";
import "./styles/pictures.css";
import "./styles/runs.css";
import "./styles/live.css";

rememberScrolling();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

//! Recipes: the code cells that the rules know, by the kind of step. Every cell works with pandas and without it.

use super::tokens::stems;

/// A kind of step with its code.
#[derive(Debug)]
pub(super) struct Recipe {
    /// The name of the kind.
    pub(super) kind: &'static str,
    /// Beginnings of words by which a step is recognised.
    signs: &'static [&'static str],
    /// The variable that shows that the step is achieved.
    pub(super) makes: &'static str,
    /// The kind of the step that must come first.
    pub(super) needs: Option<&'static str>,
    /// The code. Its parts in capitals between underscores are filled in.
    code: &'static str,
}

/// The kind of a step that the rules do not know.
pub(super) const UNKNOWN: &str = "other";

/// The variable with the steps that the rules did not do: descriptions by id.
pub(super) const NOT_DONE: &str = "steps_not_done";

/// The variable with the reason why there is no table.
pub(super) const NO_TABLE: &str = "no_table";

/// The kind of a step that no recipe fits. Its code does not do the step: it notes that the step is not done.
static OTHER: Recipe =
    Recipe { kind: UNKNOWN, signs: &[], makes: "", needs: None, code: include_str!("../../recipes/other.py") };

/// The conclusion if there is no table.
static NOTHING: Recipe = Recipe {
    kind: "conclude",
    signs: &[],
    makes: "conclusions",
    needs: None,
    code: include_str!("../../recipes/conclude.none.py"),
};

/// The kind of question that every table can answer.
const OVERVIEW: &str = "overview";

/// The recipes that answer the problem, by the kind of question that the rules have found.
static ANSWERS: [(&str, Recipe); 8] = [
    (OVERVIEW, answer("question", include_str!("../../recipes/answer.overview.py"))),
    ("groups", answer("question", include_str!("../../recipes/answer.groups.py"))),
    ("relation", answer("question", include_str!("../../recipes/answer.relation.py"))),
    ("drivers", answer("question", include_str!("../../recipes/answer.drivers.py"))),
    ("summary", answer("question", include_str!("../../recipes/answer.summary.py"))),
    ("time", answer("question", include_str!("../../recipes/answer.time.py"))),
    ("forecast", answer("forecast", include_str!("../../recipes/answer.forecast.py"))),
    ("models", answer("compare", include_str!("../../recipes/answer.models.py"))),
];

const fn answer(needs: &'static str, code: &'static str) -> Recipe {
    Recipe { kind: "answer", signs: &["answer"], makes: "answers", needs: Some(needs), code }
}

/// The recipes, in the order in which their signs are looked for: special kinds before general ones.
static RECIPES: [Recipe; 15] = [
    answer("question", include_str!("../../recipes/answer.overview.py")),
    Recipe {
        kind: "question",
        signs: &["question"],
        makes: "question",
        needs: Some("columns"),
        code: include_str!("../../recipes/question.py"),
    },
    Recipe {
        kind: "columns",
        signs: &[],
        makes: "columns",
        needs: Some("load"),
        code: include_str!("../../recipes/columns.py"),
    },
    Recipe {
        kind: "forecast",
        signs: &["forecast", "predict"],
        makes: "forecast",
        needs: Some("trend"),
        code: include_str!("../../recipes/forecast.py"),
    },
    Recipe {
        kind: "trend",
        signs: &["trend", "season"],
        makes: "trend",
        needs: Some("series"),
        code: include_str!("../../recipes/trend.py"),
    },
    Recipe {
        kind: "series",
        signs: &["sery", "timeline"], // the stem of `series`
        makes: "series",
        needs: Some("question"),
        code: include_str!("../../recipes/series.py"),
    },
    Recipe {
        kind: "compare",
        signs: &["compar", "evaluat", "score"],
        makes: "scores",
        needs: Some("models"),
        code: include_str!("../../recipes/compare.py"),
    },
    Recipe {
        kind: "split",
        signs: &["split", "holdout"],
        makes: "train",
        needs: Some("question"),
        code: include_str!("../../recipes/split.py"),
    },
    Recipe {
        kind: "models",
        signs: &["model", "train", "fit"],
        makes: "models",
        needs: Some("split"),
        code: include_str!("../../recipes/models.py"),
    },
    Recipe {
        kind: "plot",
        signs: &["plot", "visual", "chart", "figure", "picture"],
        makes: "figures",
        needs: Some("columns"),
        code: include_str!("../../recipes/plot.py"),
    },
    Recipe {
        kind: "describe",
        signs: &["describ", "statistic", "correlat", "explor", "distribution"],
        makes: "statistics",
        needs: Some("columns"),
        code: include_str!("../../recipes/describe.py"),
    },
    Recipe {
        kind: "conclude",
        signs: &["conclu", "report", "summar", "finding"],
        makes: "conclusions",
        needs: Some("answer"),
        code: include_str!("../../recipes/conclude.py"),
    },
    Recipe {
        kind: "clean",
        signs: &["clean", "missing", "duplicat", "tidy"],
        makes: "cleaned",
        needs: Some("columns"),
        code: include_str!("../../recipes/clean.py"),
    },
    Recipe {
        kind: "look",
        signs: &["look", "overview", "inspect", "profil", "understand", "examine", "quality"],
        makes: "overview",
        needs: Some("columns"),
        code: include_str!("../../recipes/look.py"),
    },
    Recipe {
        kind: "load",
        signs: &["load", "read", "import", "collect", "fetch", "open"],
        makes: "data",
        needs: None,
        code: include_str!("../../recipes/load.py"),
    },
];

/// Beginnings of words for methods that no recipe has, whatever else a step says.
const METHODS: [&str; 21] = [
    "anova",
    "variance",
    "cluster",
    "forest",
    "boost",
    "neural",
    "logistic",
    "bayes",
    "pca",
    "outlier",
    "imput",
    "normali",
    "standardi",
    "encod",
    "join",
    "merge",
    "hypothes",
    "significan",
    "ttest",
    "survival",
    "scatter",
];

/// Words without which `compare` does not mean models.
const OF_MODELS: [&str; 4] = ["model", "error", "score", "predict"];

impl Recipe {
    /// Finds the recipe of a step: by its id, or else by its goal.
    pub(super) fn of(step_id: &str, goal: &str) -> &'static Recipe {
        let (id, goal) = (stems(step_id), stems(goal));
        let has =
            |words: &[String], signs: &[&str]| words.iter().any(|word| signs.iter().any(|sign| word.starts_with(sign)));
        let is_about = |signs: &[&str]| has(&id, signs) || has(&goal, signs);
        if is_about(&METHODS) {
            return &OTHER;
        }
        let fits = |words: &[String]| RECIPES.iter().find(|recipe| has(words, recipe.signs));
        let found = fits(&id).or_else(|| fits(&goal)).unwrap_or(&OTHER);
        if found.kind == "compare" && !is_about(&OF_MODELS) { &OTHER } else { found }
    }

    /// Finds the recipe of a kind.
    pub(super) fn named(kind: &str) -> Option<&'static Recipe> {
        RECIPES.iter().find(|recipe| recipe.kind == kind)
    }

    /// Finds the recipe that answers a kind of question; the general one if the kind is unknown.
    pub(super) fn answering(question: &str) -> &'static Recipe {
        ANSWERS.iter().find(|(known, _)| *known == question).map_or(&ANSWERS[0].1, |(_, recipe)| recipe)
    }

    /// Returns the conclusion of a run without a table.
    pub(super) fn nothing() -> &'static Recipe {
        &NOTHING
    }

    /// Returns the variable that shows that a step is achieved.
    pub(super) fn marker(&self, step_id: &str) -> String {
        match self.makes {
            "" => {
                let letters = step_id.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' });
                format!("step_{}", letters.collect::<String>())
            }
            makes => makes.to_owned(),
        }
    }

    /// Returns the code of a cell with its parts. A part that looks like another one is not filled in again.
    pub(super) fn code(&self, parts: &[(&str, String)]) -> String {
        let (mut code, mut rest) = (String::new(), self.code);
        loop {
            let places = parts.iter().filter_map(|(name, value)| Some((rest.find(name)?, name.len(), value)));
            let Some((at, size, value)) = places.min_by_key(|(at, size, _)| (*at, std::cmp::Reverse(*size))) else {
                code.push_str(rest);
                return code;
            };
            code.push_str(&rest[..at]);
            code.push_str(value);
            rest = &rest[at + size..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_recognised_by_their_id_and_goal() {
        let cases = [
            ("load_data", "", "load"),
            ("handle_missing_values", "", "clean"),
            ("step_2", "Show summary statistics of all columns", "describe"),
            ("summary", "", "conclude"),
            ("answer", "", "answer"),
            ("question", "", "question"),
            ("fit_models", "", "models"),
            ("compare_models", "", "compare"),
            ("monthly_trend", "", "trend"),
            ("series", "Find the dates and order the values by them", "series"),
            ("plot_it", "Plot the profit of each update", "plot"),
            ("xyz", "Do something else entirely", "other"),
            ("anova", "Run an analysis of variance of satisfaction by region", "other"),
            ("x", "Compare satisfaction by region", "other"),
            ("x", "Fit a random forest model", "other"),
            ("x", "Impute missing values", "other"),
        ];
        for (id, goal, expected) in cases {
            assert_eq!(Recipe::of(id, goal).kind, expected, "{id} {goal}");
        }
    }

    #[test]
    fn every_need_is_a_recipe_and_no_need_is_circular() {
        for recipe in RECIPES.iter().chain(ANSWERS.iter().map(|(_, recipe)| recipe)) {
            let mut needs = recipe.needs;
            for _ in 0..RECIPES.len() {
                needs = needs.and_then(|kind| Recipe::named(kind).unwrap().needs);
            }
            assert_eq!(needs, None, "{}", recipe.kind);
        }
    }

    #[test]
    fn parts_are_filled_in_once() {
        let recipe = Recipe { kind: "", signs: &[], makes: "", needs: None, code: "a = __A__\nb = __B__\n" };
        let parts = [("__A__", "\"__B__\"".to_owned()), ("__B__", "2".to_owned())];
        assert_eq!(recipe.code(&parts), "a = \"__B__\"\nb = 2\n");
    }
}

//! Recipes: the code cells that the rules know, by the kind of step.

/// A kind of step with its code.
#[derive(Debug)]
pub(super) struct Recipe {
    /// The name of the kind.
    pub(super) kind: &'static str,
    /// Parts of words by which a step is recognised.
    signs: &'static [&'static str],
    /// The variable that shows that the step is achieved.
    pub(super) makes: &'static str,
    /// The kind of the step that must come first.
    pub(super) needs: Option<&'static str>,
    /// The code for tables of pandas, or for all tables if there is no other.
    code: &'static str,
    /// The code that needs nothing but the standard library.
    plain: Option<&'static str>,
}

/// The kind of a step that no recipe fits. Its code does not do the step: it notes that the step is not done.
const OTHER: Recipe = Recipe {
    kind: UNKNOWN,
    signs: &[],
    makes: "",
    needs: None,
    code: include_str!("../../recipes/other.py"),
    plain: None,
};

/// The recipes that answer the problem, by the kind of question that the rules have found.
const ANSWERS: [(&str, Recipe); 7] = [
    ("groups", answer("question", include_str!("../../recipes/answer.groups.py"))),
    ("relation", answer("question", include_str!("../../recipes/answer.relation.py"))),
    ("drivers", answer("question", include_str!("../../recipes/answer.drivers.py"))),
    ("time", answer("question", include_str!("../../recipes/answer.time.py"))),
    ("forecast", answer("forecast", include_str!("../../recipes/answer.forecast.py"))),
    ("models", answer("compare", include_str!("../../recipes/answer.models.py"))),
    ("overview", answer("question", include_str!("../../recipes/answer.overview.py"))),
];

/// The kind of a step that the rules do not know.
pub(super) const UNKNOWN: &str = "other";

/// The variable with the steps that the rules did not do: descriptions by id.
pub(super) const NOT_DONE: &str = "steps_not_done";

/// The kind of question that every table can answer.
const OVERVIEW: &str = "overview";

const fn answer(needs: &'static str, code: &'static str) -> Recipe {
    Recipe { kind: "answer", signs: &["answer"], makes: "answers", needs: Some(needs), code, plain: None }
}

/// The recipes, in the order in which their signs are looked for: special kinds before general ones.
const RECIPES: [Recipe; 15] = [
    answer("question", include_str!("../../recipes/answer.overview.py")),
    Recipe {
        kind: "question",
        signs: &["question"],
        makes: "question",
        needs: Some("columns"),
        code: include_str!("../../recipes/question.py"),
        plain: None,
    },
    Recipe {
        kind: "columns",
        signs: &[],
        makes: "columns",
        needs: Some("load"),
        code: include_str!("../../recipes/columns.py"),
        plain: None,
    },
    Recipe {
        kind: "forecast",
        signs: &["forecast", "predict"],
        makes: "forecast",
        needs: Some("trend"),
        code: include_str!("../../recipes/forecast.py"),
        plain: None,
    },
    Recipe {
        kind: "trend",
        signs: &["trend", "season"],
        makes: "trend",
        needs: Some("series"),
        code: include_str!("../../recipes/trend.py"),
        plain: None,
    },
    Recipe {
        kind: "series",
        signs: &["series", "date", "timeline"],
        makes: "series",
        needs: Some("load"),
        code: include_str!("../../recipes/series.py"),
        plain: None,
    },
    Recipe {
        kind: "compare",
        signs: &["compar", "evaluat", "score"],
        makes: "scores",
        needs: Some("models"),
        code: include_str!("../../recipes/compare.py"),
        plain: None,
    },
    Recipe {
        kind: "split",
        signs: &["split", "holdout"],
        makes: "train",
        needs: Some("load"),
        code: include_str!("../../recipes/split.py"),
        plain: None,
    },
    Recipe {
        kind: "models",
        signs: &["model", "train", "fit"],
        makes: "models",
        needs: Some("split"),
        code: include_str!("../../recipes/models.py"),
        plain: None,
    },
    Recipe {
        kind: "plot",
        signs: &["plot", "visual", "chart", "figure", "picture"],
        makes: "figures",
        needs: Some("load"),
        code: include_str!("../../recipes/plot.pandas.py"),
        plain: Some(include_str!("../../recipes/plot.plain.py")),
    },
    Recipe {
        kind: "describe",
        signs: &["describ", "statistic", "correlat", "explor", "distribution"],
        makes: "statistics",
        needs: Some("load"),
        code: include_str!("../../recipes/describe.pandas.py"),
        plain: Some(include_str!("../../recipes/describe.plain.py")),
    },
    Recipe {
        kind: "conclude",
        signs: &["conclu", "report", "summar", "finding"],
        makes: "conclusions",
        needs: Some("answer"),
        code: include_str!("../../recipes/conclude.py"),
        plain: None,
    },
    Recipe {
        kind: "clean",
        signs: &["clean", "missing", "duplicat", "outlier", "imput", "tidy"],
        makes: "cleaned",
        needs: Some("load"),
        code: include_str!("../../recipes/clean.pandas.py"),
        plain: Some(include_str!("../../recipes/clean.plain.py")),
    },
    Recipe {
        kind: "look",
        signs: &["look", "overview", "inspect", "profil", "understand", "examine", "quality"],
        makes: "overview",
        needs: Some("load"),
        code: include_str!("../../recipes/look.pandas.py"),
        plain: Some(include_str!("../../recipes/look.plain.py")),
    },
    Recipe {
        kind: "load",
        signs: &["load", "read", "import", "collect", "fetch", "open"],
        makes: "data",
        needs: None,
        code: include_str!("../../recipes/load.pandas.py"),
        plain: Some(include_str!("../../recipes/load.plain.py")),
    },
];

/// The dialect of a code cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The table is a data frame.
    Pandas,
    /// The table is a list of dictionaries.
    Plain,
}

impl Recipe {
    /// Finds the recipe of a step: by its id, or else by its goal.
    pub(super) fn of(step_id: &str, goal: &str) -> &'static Recipe {
        static OTHERS: Recipe = OTHER;
        static KNOWN: [Recipe; 15] = RECIPES;
        let fits = |text: &str| {
            let text = text.to_lowercase();
            KNOWN.iter().find(|recipe| recipe.signs.iter().any(|sign| text.contains(sign)))
        };
        fits(step_id).or_else(|| fits(goal)).unwrap_or(&OTHERS)
    }

    /// Finds the recipe of a kind.
    pub(super) fn named(kind: &str) -> Option<&'static Recipe> {
        static KNOWN: [Recipe; 15] = RECIPES;
        KNOWN.iter().find(|recipe| recipe.kind == kind)
    }

    /// Finds the recipe that answers a kind of question; the general one if the kind is unknown.
    pub(super) fn answering(question: &str) -> &'static Recipe {
        static KNOWN: [(&str, Recipe); 7] = ANSWERS;
        let find = |kind: &str| KNOWN.iter().find(|(known, _)| *known == kind).map(|(_, recipe)| recipe);
        find(question).or_else(|| find(OVERVIEW)).unwrap_or(&KNOWN[0].1)
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

    /// Returns the code of a cell. `path` is an expression of Python.
    pub(super) fn code(&self, dialect: Dialect, path: &str, marker: &str) -> String {
        let code = match (dialect, self.plain) {
            (Dialect::Plain, Some(plain)) => plain,
            _ => self.code,
        };
        code.replace("__NAME__", marker).replace("__PATH__", path)
    }

    /// Returns true if the recipe has code that needs no package.
    pub(super) fn has_plain(&self) -> bool {
        self.plain.is_some()
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
            ("xyz", "Do something else entirely", "other"),
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
}
